"""The computations that operations carry: Python functions of values, or programs built before."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from xla_dialect.builder.caller import build_error, caller_location
from xla_dialect.builder.recorder import Recorder, violated
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.ops.control_flow import CallOp, ReturnOp
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp
from xla_dialect.shapes.broadcasting import broadcast_shape, expansion, matched_dimensions
from xla_dialect.types import array, spell_all
from xla_dialect.violations import Violation
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.traversal import operations_in

# Broadcasting of operands, by the rules of `xla_dialect.shapes.broadcasting`.


class ImplicitBroadcasting(Recorder):
    """What elementwise methods do with operands of different sizes."""

    def _broadcast_pair(
        self, method: str, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int]
    ) -> tuple[XlaValue, XlaValue]:
        """
        Both operands with the sizes of the result.

        Raises BuildError with the label of the rule of broadcasting that does not hold.
        """
        left, right = self._pair(method, lhs, rhs)
        if left.type == right.type and not broadcast_dimensions:
            return left, right
        before = left.shape, right.shape
        try:
            result = broadcast_shape(*before, broadcast_dimensions)
        except Violation as violation:
            raise violated(method, violation) from None
        left, right = (
            self._expanded(operand, result, matched_dimensions(sizes, result, broadcast_dimensions))
            for operand, sizes in zip((left, right), before, strict=True)
        )
        return left, right

    def _expanded(
        self, operand: XlaValue, result: Sequence[int], dimensions: Sequence[int]
    ) -> XlaValue:
        """
        The array with these sizes; its dimension i becomes `dimensions[i]`.

        Sizes 1 are stretched; the others are those of the result.
        """
        element_type, before = operand.element_type, operand.shape
        step = expansion(before, result, dimensions)
        if step is None:
            return operand
        if step.reshaped != before:
            reshaped = array(element_type, step.reshaped)
            operand = self._append(ReshapeOp, operand, result_types=[reshaped])
        # Dynamic are the dimensions that are so in the operand.
        after = [int(size) for size in result]
        for size, d in zip(step.reshaped, step.dimensions, strict=True):
            after[d] = size
        return self._append(
            BroadcastOp,
            operand,
            dimensions=step.dimensions,
            result_types=[array(element_type, after)],
        )


Results: TypeAlias = XlaValue | Sequence[XlaValue]
"""What a computation returns: one value, or several."""


@dataclass(frozen=True, eq=False)
class XlaComputation:
    """
    A program that other programs can use as a computation; `XlaBuilder.build_computation` makes it.

    It may be used any number of times, in any builder.
    """

    name: str
    body: Region
    """One block, ended by `xla.return`."""
    returns_one: bool
    """Whether it returns one value, and not a sequence of values."""
    functions: tuple[FuncOp, ...]
    """The functions that it calls."""

    @property
    def parameters(self) -> tuple[Attribute, ...]:
        """The types of its parameters."""
        return tuple(argument.type for argument in self.body.block.args)


Computation: TypeAlias = Callable[..., Results] | XlaComputation
"""
A Python function from values to a value, or to several: `lambda a, b: a + b`, `b.add`. It is called
once, with values that stand for the parameters, and may use all other values that are visible.
Or what `build_computation` made of another builder.
"""


class Traced(NamedTuple):
    """A computation in the IR."""

    body: Region
    returns_one: bool
    """Whether it returns one value, and not a sequence of values."""


class Computations(ImplicitBroadcasting):
    """Turns computations into regions and functions."""

    def __init__(self) -> None:
        super().__init__()
        self._functions: dict[str, FuncOp] = {}
        self._called: dict[XlaComputation, str] = {}
        """The symbols of functions imported from computations of other builders."""
        self._renamed: dict[XlaComputation, dict[str, str]] = {}
        """For computations of other builders, the symbols here of the functions that they call."""

    def _region(self, computation: Computation, parameters: Sequence[Attribute]) -> Region:
        """A region of one block that is the computation, with parameters of these types."""
        return self._traced(computation, parameters).body

    def _traced(
        self,
        computation: Computation,
        parameters: Sequence[Attribute],
        *,
        isolated: bool = False,
    ) -> Traced:
        """As `_region`; if `isolated`, a Python function cannot use values from around it."""
        if isinstance(computation, XlaComputation):
            region = computation.body.clone()
            _rename_calls(region, self._imported_functions(computation))
            return Traced(region, computation.returns_one)
        if not callable(computation):
            raise build_error(f"{computation!r} is not a computation; a function of values is one")
        block = Block(arg_types=parameters)
        name = getattr(computation, "__name__", repr(computation))
        _name_parameters(computation, name, block)
        with self._standing_in(block, isolated=isolated):
            found = _call(computation, name, self._values(block.args))
            block.add_op(create(ReturnOp, operands=self._results(found, name)))
        return Traced(Region(block), isinstance(found, XlaValue))

    def _results(self, found: object, name: str) -> list[SSAValue]:
        """What a computation returned, in the IR."""
        if isinstance(found, list | tuple):
            return self._all_ssa(cast("Sequence[object]", found), f"result of {name}:")
        return [self._ssa(found, f"the result of {name}")]

    def _function(
        self, computation: Computation, parameters: Sequence[Attribute]
    ) -> tuple[FuncOp, bool]:
        """
        A private function of the module that is the computation, and whether it returns one value.

        It is isolated: a Python function cannot use values around it here.
        """
        if isinstance(computation, XlaComputation) and computation in self._called:
            return self._functions[self._called[computation]], computation.returns_one
        body, returns_one = self._traced(computation, parameters, isolated=True)
        if isinstance(computation, XlaComputation):
            name = self._called[computation] = self._unused_name(computation.name)
        else:
            name = self._unused_name(getattr(computation, "__name__", ""))
        function = self._functions[name] = function_of(name, body, "private")
        return function, returns_one

    def _unused_name(self, wanted: str) -> str:
        """A symbol like `wanted` that is not taken."""
        plain = re.sub(r"[^A-Za-z0-9_.$-]", "_", wanted).strip("_")
        if not plain or not (plain[0].isalpha() or plain[0] == "_"):
            plain = f"function{plain}"
        candidates = (plain if i == 0 else f"{plain}.{i}" for i in count())
        return next(name for name in candidates if name not in self._functions and name != "main")

    def _imported_functions(self, computation: XlaComputation) -> Mapping[str, str]:
        """The names here of the functions that a computation calls, which become functions here."""
        if computation not in self._renamed:
            renamed = self._renamed[computation] = {}
            for function in computation.functions:
                old = function.sym_name.data
                name = renamed[old] = self._unused_name(old)
                self._functions[name] = function.clone()
                self._functions[name].properties["sym_name"] = StringAttr(name)
            for name in renamed.values():
                _rename_calls(self._functions[name].body, renamed)
        return self._renamed[computation]


def function_of(name: str, body: Region, visibility: str) -> FuncOp:
    """The function that is a computation; `xla.return` at its end becomes that of a function."""
    block = body.block
    last = block.last_op
    assert isinstance(last, ReturnOp)
    results = tuple(last.operands)
    block.erase_op(last)
    block.add_op(FuncReturnOp(*results))
    types = [argument.type for argument in block.args], [value.type for value in results]
    function = FuncOp(name, types, body, visibility)
    function.location = caller_location()
    return function


def _call(computation: Callable[..., Results], name: str, arguments: Sequence[XlaValue]) -> object:
    try:
        return computation(*arguments)
    except RecursionError:
        raise build_error(f"{name} uses itself as a computation, without end") from None


def _name_parameters(computation: Callable[..., Results], name: str, block: Block) -> None:
    """The parameters are named as in Python; raises BuildError if the function takes others."""
    try:
        signature = inspect.signature(computation)
    except (TypeError, ValueError):
        return  # Some functions that are written in C do not say what they take.
    try:
        bound = signature.bind(*block.args)
        for parameter, argument in bound.arguments.items():
            # Arguments of `*rest` are a tuple.
            if isinstance(argument, SSAValue) and SSAValue.is_valid_name(parameter):
                argument.name_hint = parameter
    except TypeError:
        types = spell_all([argument.type for argument in block.args])
        raise build_error(
            f"{name}{signature} is called with {len(block.args)} parameters {types}"
        ) from None


def _rename_calls(region: Region, renamed: Mapping[str, str]) -> None:
    for op in operations_in(region):
        if isinstance(op, CallOp):
            name = renamed.get(op.to_apply.root_reference.data)
            if name is not None:
                op.properties["to_apply"] = SymbolRefAttr(name)
