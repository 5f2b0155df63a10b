"""From parsed operations to the `xla` dialect: one walk, one table of rows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NoReturn, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    StringAttr,
    TensorType,
    TupleType,
    UnknownLoc,
    UnregisteredAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from xla_dialect.layout import Layout, LayoutAttr, LayoutError
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.self_checking.check import CHECK
from xla_dialect.self_checking.interpreter import INTERPRETER
from xla_dialect.stablehlo import attributes
from xla_dialect.stablehlo.source import SourceError, SourceOp
from xla_dialect.types import (
    MAX_ELEMENTS,
    Array,
    TokenType,
    element_class,
    element_count,
    extents,
)

MESH = "sdy.mesh"
"""The one operation beside functions: it names devices."""

NO_DIMENSIONS = DenseArrayBase.from_list(i64, ())
"""The empty list of dimensions."""


def dimension_list(values: Iterable[int]) -> Attribute:
    """A list of dimensions or sizes as a property of the `xla` dialect."""
    return _dimension_list(tuple(values))


@lru_cache(4096)
def _dimension_list(values: tuple[int, ...]) -> Attribute:
    return DenseArrayBase.from_list(i64, values)


_number = lru_cache(4096)(IntAttr)
"""Numbers of lines and columns, which recur."""


def as_array(type_: Attribute) -> Array | None:
    """A type, if it is that of an array."""
    return cast(Array, type_) if isinstance(type_, TensorType) else None


def sizes_of(type_: Attribute) -> tuple[int, ...]:
    """The dimension sizes of an array type, bounds where dynamic; none of any other."""
    return extents(cast(Array, type_)) if isinstance(type_, TensorType) else ()


class Conversion:
    """The state of one conversion: what has been converted to what, and where to put more."""

    def __init__(
        self,
        text: str,
        file_name: str,
        positions: Mapping[Operation, int],
        resource: Callable[[str], str | None],
    ):
        self.explicit_locations: list[tuple[Operation, LocationAttr]] = []
        """Operations whose location the text gives; until verified they have their place in it."""
        self.resource = resource
        """Looks up a resource of the text: a hexadecimal string, or None."""
        self._positions = positions
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._file = StringAttr(file_name)
        self._values: dict[SSAValue, SSAValue] = {}
        self._types: dict[Attribute, Attribute] = {}
        self._meshes: dict[str, Attribute] = {}
        self._block = Block()
        self._location = FileLineColLoc(self._file, IntAttr(1), IntAttr(1))

    # What rows use

    def emit(
        self,
        op_class: type[XlaOp],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Sequence[SSAValue]:
        """Adds an operation at the current place and returns its results."""
        return self.add(
            op_class.create(
                operands=operands,
                result_types=result_types,
                properties=properties or {},
                regions=regions,
            )
        )

    def add(self, op: Operation) -> Sequence[SSAValue]:
        """Adds an operation at the current place and returns its results."""
        op.location = self._location
        self._block.add_op(op)
        return op.results

    def operands(self, op: Operation) -> list[SSAValue]:
        """What the operands of a parsed operation have become."""
        return [self._values[operand] for operand in op.operands]

    def result_types(self, op: Operation) -> list[Attribute]:
        """What the result types of a parsed operation become."""
        return [self.type(result.type, op) for result in op.results]

    def type(self, type_: Attribute, op: Operation) -> Attribute:
        """The type of the `xla` dialect for a type of StableHLO; errors are those of `op`."""
        found = self._types.get(type_)
        if found is None:
            found = self._types[type_] = self._convert_type(type_, op)
        return found

    def region(self, region: Region, op: Operation) -> Region:
        """The computation for a region of a parsed operation."""
        block = region.first_block
        if block is None or block.next_block is not None:
            raise SourceError(op, f"a region has {len(region.blocks)} blocks instead of one")
        return Region(self._convert_block(block, op, "stablehlo.return"))

    def regions(self, op: Operation) -> list[Region]:
        """The computations for all regions of a parsed operation."""
        return [self.region(region, op) for region in op.regions]

    def inline(
        self, region: Region, op: Operation, arguments: Sequence[SSAValue], terminator: str
    ) -> list[SSAValue]:
        """Adds the operations of a region at the current place; what it returns on `arguments`."""
        block = region.first_block
        last = None if block is None else block.last_op
        if block is None or block.next_block is not None or last is None or last.name != terminator:
            raise SourceError(op, f"its region is not one block that ends with {terminator}")
        for old, new in zip(block.args, arguments, strict=True):
            if self.type(old.type, op) != new.type:
                raise SourceError(op, f"its region takes {old.type} where {new.type} is given")
            self._values[old] = new
        for inner in block.ops:
            if inner is not last:
                self._convert_operation(inner)
        return self.operands(last)

    def mesh(self, name: str) -> str | None:
        """The text of a mesh of the module."""
        found = self._meshes.get(name)
        return found.data if isinstance(found, StringAttr) else None

    # The walk

    def module(self, module: ModuleOp) -> ModuleOp:
        """The module of `func.func` with operations of the `xla` dialect inside."""
        kept = portable_entries(module.attributes)
        functions: dict[str, func.FuncOp] = {}
        for op in module.ops:
            if isinstance(op, SourceOp) and op.name == MESH:
                name, mesh = op.text("sym_name"), op.take("mesh")
                self._meshes[name] = StringAttr("") if mesh is None else _portable(mesh)
        for op in module.ops:
            if op.name == MESH:
                continue
            function = self._convert_function(op)
            name = function.sym_name.data
            if name in functions:
                raise SourceError(op, f"there is a function @{name} already")
            functions[name] = function
        if self._meshes:
            kept["sdy.meshes"] = DictionaryAttr(self._meshes)
        return ModuleOp(functions.values(), kept, module.sym_name)

    def _convert_function(self, op: Operation) -> func.FuncOp:
        if not isinstance(op, func.FuncOp):
            raise SourceError(op, "a module contains functions only")
        type_ = op.properties.get("function_type")
        if not isinstance(type_, FunctionType) or not isinstance(
            op.properties.get("sym_name"), StringAttr
        ):
            raise SourceError(op, "a function has a name and a function type")
        _check_properties(op, _FUNCTION_PROPERTIES)
        self._location = self._place_of(op)
        inputs = [self.type(t, op) for t in type_.inputs.data]
        outputs = [self.type(t, op) for t in type_.outputs.data]
        result = func.FuncOp(
            op.sym_name.data,
            (inputs, outputs),
            self._convert_body(op, inputs, outputs),
            op.sym_visibility,
            arg_attrs=self._attributes_of_values(op, "arg_attrs", len(inputs)),
            res_attrs=self._attributes_of_values(op, "res_attrs", len(outputs)),
        )
        result.attributes.update(portable_entries(op.attributes))
        result.location = self._place_of(op)
        if not isinstance(op.location, UnknownLoc):
            self.explicit_locations.append((result, op.location))
        return result

    def _convert_body(
        self, op: func.FuncOp, inputs: Sequence[Attribute], outputs: Sequence[Attribute]
    ) -> Region:
        block = op.body.first_block
        if block is None:
            return Region()
        if block.next_block is not None:
            raise SourceError(op, "a function body has one block")
        body = self._convert_block(block, op, "func.return")
        if list(body.arg_types) != list(inputs):
            raise SourceError(op, "the arguments of the body differ from the function type")
        returned = cast(Operation, body.last_op)
        if [value.type for value in returned.operands] != list(outputs):
            raise SourceError(
                cast(Operation, block.last_op),
                f"returns {_list_of([v.type for v in returned.operands])}, the function type of "
                f"@{op.sym_name.data} says {_list_of(outputs)}",
            )
        return Region(body)

    @staticmethod
    def _attributes_of_values(
        op: func.FuncOp, name: str, count: int
    ) -> ArrayAttr[DictionaryAttr] | None:
        """The attributes of parameters or results; none where all dictionaries are empty."""
        value = op.properties.get(name)
        if value is None:
            return None
        entries = cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else ()
        found = [entry for entry in entries if isinstance(entry, DictionaryAttr)]
        if len(found) != count or len(entries) != count:
            raise SourceError(op, f"{name} is not a list of {count} dictionaries")
        if not any(entry.data for entry in found):
            return None
        return ArrayAttr(DictionaryAttr(portable_entries(entry.data)) for entry in found)

    def _convert_block(self, block: Block, parent: Operation, terminator: str) -> Block:
        """The block with all its operations converted; it has to end with the terminator."""
        outer = self._block, self._location
        result = self._block = Block(arg_types=[self.type(a.type, parent) for a in block.args])
        for old, new in zip(block.args, result.args, strict=True):
            self._define(old, new)
            new.location = old.location
        last = block.last_op
        if last is None or last.name != terminator:
            found = "nothing" if last is None else last.name
            raise SourceError(parent, f"its region ends with {found}, not with {terminator}")
        for op in block.ops:
            if op is not last and op.name in _TERMINATORS:
                raise SourceError(op, "stands before the end of its block")
            self._convert_operation(op)
        self._block, self._location = outer
        return result

    def _convert_operation(self, op: Operation) -> None:
        self._location = self._place_of(op)
        before = self._block.last_op
        convert = _OTHER_OPERATIONS.get(op.name)
        if convert is not None:
            results = convert(op, self)
        elif isinstance(op, SourceOp):
            _check_counts(op)
            results = op.row.convert(op, self)
            _check_rest(op)
        else:
            raise SourceError(op, "this operation is not supported here")
        for old, new in zip(op.results, results, strict=True):
            self._define(old, new)
        if op.attributes and self._block.last_op is not None:
            self._block.last_op.attributes.update(portable_entries(op.attributes))
        if op.location is not UNKNOWN_LOC and not isinstance(op.location, UnknownLoc):
            self._remember_location(op.location, before)

    def _define(self, old: SSAValue, new: SSAValue) -> None:
        self._values[old] = new
        if old.name_hint is not None:
            new.name_hint = old.name_hint

    # Where things stand

    def _place_of(self, op: Operation) -> FileLineColLoc:
        """Where an operation stands; one that has no place of its own is where we are."""
        offset = self._positions.get(op)
        if offset is None:
            return self._location
        line = bisect_right(self._line_starts, offset)
        column = offset - self._line_starts[line - 1] + 1
        return FileLineColLoc(self._file, _number(line), _number(column))

    def _remember_location(self, location: LocationAttr, before: Operation | None) -> None:
        """Notes the location that the text gives to the operations after `before`."""
        op = self._block.last_op
        while op is not None and op is not before:
            self.explicit_locations.append((op, location))
            op = op.prev_op

    # Types

    def _convert_type(self, type_: Attribute, op: Operation) -> Attribute:
        if isinstance(type_, attributes.TokenType | TokenType):
            return TokenType()
        if isinstance(type_, TupleType):
            elements = (cast(TypeAttribute, self.type(t, op)) for t in type_.types.data)
            return TupleType(tuple(elements))

        def fail(reason: str) -> NoReturn:
            raise SourceError(op, f"type {type_} is not supported: {reason}")

        if not isinstance(type_, TensorType):
            fail("it is no array, tuple or token")
        array = cast(Array, type_)
        sizes = array.get_shape()
        if not element_class(array.element_type):
            fail(f"{array.element_type} is not an element type of XLA")
        if isinstance(array.encoding, attributes.Bounds):
            layout = replace(Layout.default(len(sizes)), bounds=array.encoding.data)
            array = TensorType(array.element_type, sizes, LayoutAttr(layout))
        if not isinstance(array.encoding, NoneAttr | LayoutAttr):
            fail(f"encoding {array.encoding} is unknown")
        if isinstance(array.encoding, LayoutAttr):
            try:
                array.encoding.data.validate(sizes)
            except LayoutError as error:
                fail(str(error))
        sizes = extents(array)
        if any(size < 0 for size in sizes):
            fail("its dimensions are dynamic")
        if element_count([size for size in sizes if size]) > MAX_ELEMENTS:
            raise SourceError(op, "(Size) an array has more than 2^63 - 1 elements")
        return array


_TERMINATORS = ("stablehlo.return", "func.return", "sdy.return")


def portable_entries(entries: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Attributes that are kept uninterpreted; those of foreign dialects become their text."""
    return {name: _portable(value) for name, value in entries.items()}


def _portable(value: Attribute) -> Attribute:
    match value:
        case DictionaryAttr():
            return DictionaryAttr(portable_entries(value.data))
        case ArrayAttr():
            return ArrayAttr(map(_portable, value.data))
        case UnregisteredAttr() | attributes.Word() | attributes.Fields() | attributes.TokenType():
            return StringAttr(str(value))
        case attributes.ConvolutionNumbers():
            return StringAttr(str(value))
        case _:
            return value


def _list_of(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


def _check_counts(op: SourceOp) -> None:
    row = op.row
    found = len(op.operands), len(op.results), len(op.regions)
    wanted = row.operands, row.results, row.regions
    if found == wanted:
        return
    for what, expected, count in zip(
        ("operands", "results", "regions"), wanted, found, strict=True
    ):
        if expected is not None and expected != count:
            op.fail(f"has {count} {what}, expected {expected}")


def _check_rest(op: SourceOp) -> None:
    """What no row has taken must be a discardable attribute, i.e. one with a dialect's name."""
    if not op.properties and not op.attributes:
        return
    op.attributes.update(op.properties)
    for name in op.attributes:
        if "." not in name:
            op.fail(f"unknown attribute {name!r}")


_FUNCTION_PROPERTIES = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


def _check_properties(op: Operation, known: Sequence[str]) -> None:
    """Properties that would be lost are an error."""
    for name in op.properties:
        if name not in known:
            raise SourceError(op, f"unknown attribute {name!r}")


def _convert_call(op: Operation, conversion: Conversion) -> Sequence[SSAValue]:
    callee = op.properties.get("callee")
    if callee is None:
        raise SourceError(op, "callee is missing")
    _check_properties(op, ("callee",))
    return conversion.emit(
        CallOp, conversion.operands(op), conversion.result_types(op), {"to_apply": callee}
    )


def _convert_function_return(op: Operation, conversion: Conversion) -> Sequence[SSAValue]:
    _check_properties(op, ())
    conversion.add(func.ReturnOp(*conversion.operands(op)))
    return ()


def _convert_kept(op: Operation, conversion: Conversion) -> Sequence[SSAValue]:
    """What a program asks of its executor: the same operation on the converted values."""
    return conversion.add(
        type(op).create(
            operands=conversion.operands(op),
            result_types=conversion.result_types(op),
            properties=op.properties,
        )
    )


_OTHER_OPERATIONS: Mapping[str, Callable[[Operation, Conversion], Sequence[SSAValue]]] = {
    "func.call": _convert_call,
    "func.return": _convert_function_return,
    **{op.name: _convert_kept for op in (*CHECK.operations, *INTERPRETER.operations)},
}
