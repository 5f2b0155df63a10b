"""Values, how operations on them are appended, and the computations that operations carry.

The builder stands in the innermost open block. Calling a Python function to build the computation
of an operation opens a block inside the operation, and closes it when the function returns.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import StringAttr, SymbolRefAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import VariadicDef
from xdsl.utils.exceptions import VerifyException

from xla_dialect.builder.arguments import (
    Number,
    all_normalized,
    as_array,
    build_error,
    caller_location,
    encoded,
    normalized,
)
from xla_dialect.dimensions import Numbering
from xla_dialect.literals.arrays import from_numpy
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import CallOp, ReturnOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp
from xla_dialect.shapes.broadcasting import broadcast_shape, expansion, matched_dimensions
from xla_dialect.spelling import FreeNames
from xla_dialect.types import (
    Array,
    ElementClass,
    array,
    element_class,
    sizes_of,
    spell,
    spell_all,
    tuple_elements,
)
from xla_dialect.violations import Violation, innermost
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import ancestors, operations_in

_Operator: TypeAlias = "Callable[[XlaValue, Any], XlaValue]"


def _operators(method: str, sign: str | None = None) -> tuple[_Operator, _Operator]:
    """
    The operators that are a method of the builder, for a value on the left and on the right.

    `sign`: of one that Python defines otherwise for integers, for which it is an error.
    """

    def require_fractions(value: XlaValue) -> None:
        if element_class(value.element_type) & (ElementClass.INTEGER | ElementClass.PRED):
            raise build_error(
                f"{sign} of {spell(value.type)} is not what Python means by it; "
                f"say {method}, which stays in the integers"
            )

    def on_the_left(self: XlaValue, other: XlaValue | Number) -> XlaValue:
        if sign is not None:
            require_fractions(self)
        return getattr(self.builder, method)(self, other)

    def on_the_right(self: XlaValue, other: Number) -> XlaValue:
        if sign is not None:
            require_fractions(self)
        return getattr(self.builder, method)(other, self)

    return on_the_left, on_the_right


class XlaValue:
    """
    A value of the program that a builder builds: an array, a tuple or a token.

    Arrays have the operators whose meaning does not depend on who reads them. The other operand is
    an array of the same rank, a scalar, or a Python number, which is a constant of the same element
    type; arrays of different rank need a method, and `broadcast_dimensions`.

    - `+ - *` and unary `-`; `/` and `**` of floats and complex numbers only (integers: `b.div`
      truncates, where Python's `/` does not); `@` is `b.dot`.
    - `& | ^ ~`, bitwise on integers, logical on pred.
    - `== != < <= > >=` give arrays of pred, as in numpy. A value has no truth value itself: `if`
      and `and` over values are errors, `b.conditional` and `b.select` are what is meant.

    A tuple has a length, `t[i]`, and unpacks: `value, index = t`.
    """

    __slots__ = ("builder", "ssa")

    __array_ufunc__ = None
    """Says to numpy that the operators here are meant when one of its arrays stands on the left."""

    def __init__(self, builder: Any, ssa: SSAValue):
        self.builder = builder
        """The builder that made it."""
        self.ssa = ssa
        """The value in the IR."""

    @property
    def type(self) -> Attribute:
        """The MLIR type."""
        return self.ssa.type

    @property
    def array_type(self) -> Array:
        """The type of an array; raises BuildError for a tuple or a token."""
        type_ = self.ssa.type
        if not isinstance(type_, TensorType):
            raise build_error(f"{spell(type_)} is not an array")
        return cast(Array, type_)

    @property
    def shape(self) -> tuple[int, ...]:
        """
        The sizes of an array; of dynamic dimensions the bounds, as `DynamicSize`.

        Raises BuildError for a tuple or a token, and for a dynamic dimension without a bound.
        """
        try:
            return sizes_of(self.array_type)
        except Violation as violation:
            raise build_error(str(violation)) from None

    @property
    def rank(self) -> int:
        """The number of dimensions of an array; raises BuildError for a tuple or a token."""
        return self.array_type.get_num_dims()

    @property
    def element_type(self) -> Attribute:
        """The MLIR element type of an array; raises BuildError for a tuple or a token."""
        return self.array_type.element_type

    def named(self, name: str) -> XlaValue:
        """The value itself, shown under this name where the IR is printed."""
        if not SSAValue.is_valid_name(name):
            raise build_error(f"'{name}' is not a name for a value")
        self.ssa.name_hint = name
        return self

    def __repr__(self) -> str:
        name = f" %{self.ssa.name_hint}" if self.ssa.name_hint else ""
        return f"<XlaValue{name}: {spell(self.type)}>"

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("sub")
    __mul__, __rmul__ = _operators("mul")
    __truediv__, __rtruediv__ = _operators("div", "/")
    __pow__, __rpow__ = _operators("pow", "**")
    __and__, __rand__ = _operators("and_")
    __or__, __ror__ = _operators("or_")
    __xor__, __rxor__ = _operators("xor")
    __lt__, __gt__ = _operators("lt")[0], _operators("gt")[0]
    __le__, __ge__ = _operators("le")[0], _operators("ge")[0]
    __matmul__, _ = _operators("dot")

    def __neg__(self) -> XlaValue:
        return self.builder.neg(self)

    def __invert__(self) -> XlaValue:
        return self.builder.not_(self)

    def __eq__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, other: XlaValue | Number
    ) -> XlaValue:
        return self.builder.eq(self, other)

    def __ne__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, other: XlaValue | Number
    ) -> XlaValue:
        return self.builder.ne(self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise build_error(
            "a value is not true or false before the program runs; "
            "use conditional or select, and & | ~ between pred arrays"
        )

    def _elements(self) -> tuple[Attribute, ...]:
        elements = tuple_elements(self.type)
        if elements is None:
            raise build_error(
                f"{spell(self.type)} is not a tuple; parts of arrays are taken by slice and gather"
            )
        return elements

    def __len__(self) -> int:
        return len(self._elements())

    def __getitem__(self, index: int) -> XlaValue:
        count = len(self)
        return self.builder.get_tuple_element(self, index + count if index < 0 else index)

    def __iter__(self) -> Iterator[XlaValue]:
        return iter([self[i] for i in range(len(self))])


Operand: TypeAlias = XlaValue | Number
"""A value, or a number that stands for a scalar constant of the element type around it."""


class Recorder:
    """The open blocks of a program that is being built, or of an operation's surroundings."""

    def __init__(self) -> None:
        self._entry = Block()
        self._open_blocks = [self._entry]
        """The blocks whose values are visible, the innermost last."""
        self._before: Operation | None = None
        """The operation of a module before which operations are put, with its location."""
        self._finished = False

    def stand_before(self, op: Operation) -> None:
        """For passes: from now on operations are put before this one, with its location."""
        self._before = op
        if op.parent is self._entry:
            return
        around = (each.parent for each in (*reversed(list(ancestors(op))), op))
        self._open_blocks = [block for block in around if block is not None]
        self._entry = self._open_blocks[-1]

    def _ssa(self, value: object, what: str = "operand") -> SSAValue:
        """The value in the IR, if it can be used where the builder stands."""
        if not isinstance(value, XlaValue):
            raise build_error(
                f"{what} is a Python {type(value).__name__}, not a value; constant makes one of it"
            )
        if value.builder is not self:
            raise build_error(f"{what} is a value of another builder, '{value.builder.name}'")
        owner = value.ssa.owner
        block = owner.parent if isinstance(owner, Operation) else owner
        if not any(block is visible for visible in self._open_blocks):
            raise build_error(
                f"{what} {value!r} was made inside a computation, or outside a function, "
                "and cannot be used here"
            )
        return value.ssa

    def _all_ssa(self, values: Iterable[object], what: str = "operand") -> list[SSAValue]:
        return [self._ssa(value, f"{what} {i}") for i, value in enumerate(values)]

    def _values(self, ssa: Sequence[SSAValue]) -> tuple[XlaValue, ...]:
        return tuple(XlaValue(self, value) for value in ssa)

    def _append(
        self,
        op_class: type[XlaOp],
        *operands: Any,
        regions: Sequence[Region | Sequence[Region]] = (),
        result_types: Sequence[Attribute] | None = None,
        element_type: Attribute | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: Any,
    ) -> Any:
        """
        Appends an operation; returns its result, or a tuple where it may have several.

        Where one value is given for a first list of operands, there is one result. Types of results
        are inferred if not given; where only `element_type` is, the operation infers the sizes.
        Properties are as callers give them. Raises BuildError with the label of a constraint that
        does not hold.
        """
        if self._finished:
            raise build_error("the program is built already")
        names, has_list_of_results, first_list = _parts(op_class)
        given = [
            [self._ssa(operand, name)]
            if isinstance(operand, XlaValue) or not np.iterable(operand)
            else self._all_ssa(operand, name)
            for name, operand in zip(names, operands, strict=True)
        ]
        types = [*(value.type for values in given for value in values), *(result_types or ())]
        plain = {
            name: encoded(op_class, name, _from_start(op_class.NUMBERING.get(name), value, types))
            for name, value in properties.items()
        }
        try:
            op = op_class(
                *given,
                regions=regions,
                result_types=result_types if element_type is None else [array(element_type, ())],
                attributes=attributes,
                **plain,
            )
            if element_type is not None:
                op.set_result_types(op.infer_types())
            if result_types is None and element_type is None:
                op.verify_inferred()
            else:
                op.require_bounds(op.operand_types)
                op.verify(verify_nested_ops=False)
        except VerifyException as error:
            raise build_error(innermost(error)) from None
        if self._before is None:
            op.location = caller_location()
        results = self.append(op)
        is_one = first_list is not None and isinstance(operands[first_list], XlaValue)
        return results if has_list_of_results and not is_one else results[0]

    def append(self, op: XlaOp) -> tuple[XlaValue, ...]:
        """
        Appends an operation that was made without the builder, and returns its results.

        For passes: its operands are values that can be used here, and nothing is checked.
        """
        if self._before is not None:
            for each in operations_in(op):
                each.location = self._before.location
        block = self._open_blocks[-1]
        if self._before is not None and block is self._entry:
            insert_before(op, self._before)
        else:
            block.add_op(op)
        return self._values(op.results)

    @contextmanager
    def _standing_in(self, block: Block, *, isolated: bool = False) -> Generator[None]:
        """The builder stands in the block; if `isolated`, only its values can be used."""
        outside = self._open_blocks
        self._open_blocks = [block] if isolated else [*outside, block]
        try:
            yield
        finally:
            self._open_blocks = outside

    def _literal(self, array: Any) -> XlaValue:
        """A constant of the type that the array has."""
        return self._append(ConstantOp, value=from_numpy(array))

    def _scalar(self, number: Number, element_type: Attribute) -> XlaValue:
        """A scalar constant of the element type; raises BuildError if the number does not fit."""
        return self._literal(as_array(number, element_type))

    def _operand(self, operand: Operand, element_type: Attribute, what: str) -> XlaValue:
        """A value, or the scalar constant that a number stands for."""
        if isinstance(operand, bool | int | float | complex):
            return self._scalar(operand, element_type)
        self._ssa(operand, what)
        return operand

    def _pair(self, method: str, lhs: Operand, rhs: Operand) -> tuple[XlaValue, XlaValue]:
        """Two operands as arrays; a number takes the element type of the other operand."""
        types = (side.element_type for side in (lhs, rhs) if isinstance(side, XlaValue))
        element_type = next(types, None)
        if element_type is None:
            raise build_error(f"{method}: neither operand is a value; constant makes one")
        return self._operand(lhs, element_type, "lhs"), self._operand(rhs, element_type, "rhs")


def violated(method: str, violation: Violation) -> Exception:
    """The error for a rule of the builder itself: `broadcast_in_dim: (C3) ...`."""
    return build_error(f"{method}: {violation}")


def as_list(operand: XlaValue | Iterable[XlaValue]) -> list[XlaValue]:
    """The values of an operand that may be one, or several."""
    return [operand] if isinstance(operand, XlaValue) else list(operand)


@cache
def _parts(op_class: type[XlaOp]) -> tuple[tuple[str, ...], bool, int | None]:
    """The names of operands, whether results are a list, and which operand is the first list."""
    definition = op_class.get_irdl_definition()
    lists = (i for i, (_, part) in enumerate(definition.operands) if isinstance(part, VariadicDef))
    return (
        tuple(name for name, _ in definition.operands),
        isinstance(definition.results[0][1], VariadicDef),
        next(lists, None),
    )


def _from_start(numbering: Numbering | None, given: Any, types: Sequence[Attribute]) -> Any:
    """
    Numbers of dimensions counted from the start; -1 is the last where they may be from the end.

    `types`: of the operands and, as far as they are given, of the results.
    """
    if numbering is None or numbering.numbers is None or given is None:
        return given
    type_ = types[numbering.numbers] if types else None
    rank = len(type_.shape.data) if isinstance(type_, TensorType) else 0
    return all_normalized(given, rank) if np.iterable(given) else normalized(given, rank)


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
            self.append(create(ReturnOp, operands=self._results(found, name)))
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
        return FreeNames({"main"}).free(plain, self._functions)

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
