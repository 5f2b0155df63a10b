"""Addresses as sums of registers times constants: what `riscv` operations compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects import riscv_scf, rv64
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.riscv import ops as riscv
from xdsl.ir import Block, Operation, SSAValue
from xdsl.transforms.canonicalization_patterns.riscv import get_constant_value

LOADS = (riscv.FLdOp, riscv.FLwOp, riscv.LwOp, rv64.LdOp)
STORES = (riscv.FSdOp, riscv.FSwOp, riscv.SwOp, rv64.SdOp)


@dataclass(frozen=True)
class Sum:
    """A sum of registers times constants, and a constant."""

    terms: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    constant: int = 0

    def __add__(self, other: Sum) -> Sum:
        terms = dict(self.terms)
        for value, factor in other.terms.items():
            terms[value] = terms.get(value, 0) + factor
        return Sum(
            {value: factor for value, factor in terms.items() if factor},
            self.constant + other.constant,
        )

    def __mul__(self, factor: int) -> Sum:
        terms = {value: each * factor for value, each in self.terms.items() if factor}
        return Sum(terms, self.constant * factor)

    @property
    def key(self) -> frozenset[tuple[SSAValue, int]]:
        """The terms, to be compared."""
        return frozenset(self.terms.items())

    def without(self, value: SSAValue) -> Sum:
        """The other terms, without the constant."""
        return Sum({each: factor for each, factor in self.terms.items() if each is not value})


def sum_of(value: SSAValue) -> Sum:
    """What a register holds, as far back as additions and multiplications by constants go."""
    constant = get_constant_value(value)
    if constant is not None:
        return Sum(constant=constant.value.data)
    match value.owner:
        case riscv.AddOp() as op:
            return sum_of(op.rs1) + sum_of(op.rs2)
        case riscv.SubOp() as op:
            return sum_of(op.rs1) + sum_of(op.rs2) * -1
        case riscv.LuiOp() as op if isinstance(op.immediate, IntegerAttr):
            return Sum(constant=cast("IntegerAttr[Any]", op.immediate).value.data << 12)
        case riscv.AddiOp() as op if isinstance(op.immediate, IntegerAttr):
            return sum_of(op.rs1) + Sum(constant=cast("IntegerAttr[Any]", op.immediate).value.data)
        case riscv.MulOp() as op:
            left, right = sum_of(op.rs1), sum_of(op.rs2)
            if not left.terms:
                return right * left.constant
            if not right.terms:
                return left * right.constant
        case riscv.MVOp() as op if not op.rd.type.is_allocated and _is_computed(op.rs):
            return sum_of(op.rs)
        case _:
            pass
    return Sum({value: 1})


def _is_computed(value: SSAValue) -> bool:
    """Whether a register is no argument of a function, whose register others may take."""
    return isinstance(value.owner, Operation) or not value.type.is_allocated  # pyright: ignore


def address_of(op: Operation) -> Sum:
    """The address that a load or store accesses."""
    immediate = cast("IntegerAttr[Any]", op.attributes["immediate"]).value.data
    return sum_of(op.operands[0]) + Sum(constant=immediate)


def base_of(address: Sum) -> SSAValue | None:
    """The pointer that an address begins at: its only term that is no index of a loop."""
    bases = [value for value in address.terms if not is_loop_index(value)]
    return bases[0] if len(bases) == 1 and address.terms[bases[0]] == 1 else None


def is_loop_index(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, Block) and isinstance(owner.parent_op(), riscv_scf.ForOp)
