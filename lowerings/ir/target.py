"""
The target of a module: what its passes may count on, as an attribute of the module, which MLIR's
dialect `dlti` has for that; and the pass `xla-attach-target`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, StringAttr, i1, i64
from xdsl.dialects.dlti import TargetDeviceSpecAttr, TargetSystemSpecAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from lowerings.rewriting.levels import EVERY_LEVEL
from lowerings.rewriting.passes import require_option
from xla_dialect.diagnostics import XlaError

ATTRIBUTE = TargetSystemSpecAttr.name
_PROCESSOR = "CPU"
_MAX_VECTOR_BITS = 1 << 16
"""What no vector register is wider than: RISC-V's limit, the largest that there is."""


@dataclass(frozen=True)
class Target:
    """What a processor has that decides what passes make; by default what most of x86 has."""

    vector_bits: int = 512
    """The width of a vector register; 0 for loops over scalars."""
    multiplies_pairs: bool = True
    """Whether sums of products of integers of at most 16 bits add two at a time, as x86 can."""
    multiplies_quads: bool = False
    """Whether those of at most 8 bits add four at a time, as AVX512_VNNI and AVX-VNNI can."""
    multiplies_bfloats: bool = False
    """
    Whether sums of products of bf16 add two at a time, as AVX512_BF16 can: it takes subnormal
    numbers as zero, which a product allows by the flag `afn`.
    """
    flushes_subnormals: bool = False
    """Whether all products allow that."""
    estimates_roots: bool = False
    """Whether it has an estimate of reciprocal roots of f32, as AVX-512 has."""
    scales_by_powers: bool = False
    """Whether it multiplies f32 by powers of two in one instruction, as AVX-512 does."""
    converts_halves: bool = True
    """Whether it converts f16 from and to f32, as F16C does on x86."""

    def __post_init__(self) -> None:
        bits = self.vector_bits
        is_width = bits == 0 or (64 <= bits <= _MAX_VECTOR_BITS and bits & (bits - 1) == 0)
        wanted = f"0 or a power of two from 64 to {_MAX_VECTOR_BITS}"
        require_option(is_width, "vector_bits", bits, wanted)

    @staticmethod
    def of(module: ModuleOp) -> Target:
        """That of a module, or the default; raises XlaError for an attribute that is none."""
        found = module.attributes.get(ATTRIBUTE)
        return Target() if found is None else _target_of(found)

    def attach(self, module: ModuleOp) -> None:
        """Makes it that of a module."""
        module.attributes[ATTRIBUTE] = _attribute_of(self)


@cache
def _attribute_of(target: Target) -> Attribute:
    entries: dict[Any, Any] = {
        name: IntegerAttr(int(value), _type_of(value)) for name, value in asdict(target).items()
    }
    return TargetSystemSpecAttr({_PROCESSOR: TargetDeviceSpecAttr(entries)})


def _type_of(value: int) -> IntegerType:
    return i1 if isinstance(value, bool) else i64


def _target_of(attribute: Attribute) -> Target:
    # Not remembered: to xDSL 0.74 all specifications are equal.
    found: dict[str, Any] = {}
    for key, value in _entries(_entries(attribute).get(_PROCESSOR)).items():
        default: object = getattr(Target, key, None)
        wanted = _type_of(default) if isinstance(default, int) else None
        number = cast("IntegerAttr[Any]", value) if isinstance(value, IntegerAttr) else None
        if number is None or number.type != wanted:
            known = ", ".join(each.name for each in fields(Target))
            raise XlaError(f"{ATTRIBUTE}: {key} = {value} is no entry (there are: {known})")
        found[key] = bool(number.value.data) if wanted == i1 else number.value.data
    try:
        return Target(**found)
    except ValueError as error:
        raise XlaError(f"{ATTRIBUTE}: {error}") from error


def _entries(spec: Attribute | None) -> dict[str, Attribute]:
    """The entries of a specification by name; raises XlaError where it is none."""
    if not isinstance(spec, TargetSystemSpecAttr | TargetDeviceSpecAttr):
        raise XlaError(f"{ATTRIBUTE} has no specification of '{_PROCESSOR}'")
    return {each.key.data: each.value for each in spec.entries if isinstance(each.key, StringAttr)}


@dataclass(frozen=True)
class XlaAttachTargetPass(ModulePass, Target):
    """
    Says in the module for which processor the passes behind it plan: what its vectors are, and what
    it does in one instruction.

    `native{target=...}` begins with it, with what the machine has.

    ```mlir
    builtin.module { ... }
    ```
    ->
    ```mlir
    builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<
        "CPU" = #dlti.target_device_spec<"vector_bits" = 256 : i64, ...>>} { ... }
    ```
    """

    name = "xla-attach-target"
    takes = EVERY_LEVEL

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.attach(op)
