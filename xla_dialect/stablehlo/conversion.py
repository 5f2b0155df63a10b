"""From parsed operations to the `xla` dialect: one walk."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    IntegerType,
    LocationAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    UnknownLoc,
    UnrankedTensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from xla_dialect import types as xla
from xla_dialect.diagnostics import XlaError
from xla_dialect.layout import LayoutAttr, LayoutError
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp, SliceOp
from xla_dialect.ops.dynamic_shapes import GetDimensionSizeOp
from xla_dialect.ops.tuples import GetTupleElementOp
from xla_dialect.quantized_types import quantization_of, with_element_type
from xla_dialect.sharding.attributes import MESH, SHARDING_RULE, ShardingRuleAttr, set_meshes
from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingAttr
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo import attributes
from xla_dialect.stablehlo.attributes import (
    NO_ELEMENT_TYPE,
    Bounds,
    FutureType,
    has_foreign_encoding,
    integers,
    integers_for_index,
    is_index,
    with_bounds,
    xla_type,
)
from xla_dialect.stablehlo.legalize import FAMILIES
from xla_dialect.stablehlo.op import (
    SourceError,
    StableHloOp,
    UnknownShape,
    warn_of_misspellings,
)
from xla_dialect.types import (
    MAX_ELEMENTS,
    Array,
    ElementClass,
    TokenType,
    array,
    as_array,
    element_class,
    element_count,
    extents,
    fits,
    is_unbounded,
    spell,
    spell_all,
)
from xla_dialect.verification import check_rule, sizes_of_arrays
from xla_dialect.violations import check, require
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import append
from xla_dialect.xdsl.traversal import operands_of

if TYPE_CHECKING:
    import numpy as np

    from xla_dialect.shardy import MeshOp


def is_dynamic(op: Operation) -> bool:
    """Whether a function takes or returns arrays of unbounded size."""
    type_ = op.properties.get("function_type")
    return isinstance(type_, FunctionType) and any(
        map(_is_unbounded, (*type_.inputs.data, *type_.outputs.data))
    )


def _is_unbounded(type_: Attribute) -> bool:
    """Whether an array type has a size or rank without a bound; or a future, made elsewhere."""
    is_open = isinstance(type_, UnrankedTensorType | FutureType)
    return is_open or is_unbounded(xla_type(type_))


def takes_dynamic(op: Operation) -> bool:
    """Whether a public function takes arrays of unbounded size."""
    type_ = op.properties.get("function_type")
    return (
        isinstance(type_, FunctionType)
        and not is_private(op)
        and any(map(_is_unbounded, type_.inputs.data))
    )


def is_private(op: Operation) -> bool:
    """Whether a function is called from its module only."""
    return op.properties.get("sym_visibility") == StringAttr("private")


def sized_like(source: Attribute, declared: Attribute) -> Attribute:
    """The declared type, its unbounded dimensions those of another array of that rank."""
    mine, theirs = as_array(source), as_array(declared)
    if mine is None or theirs is None or len(extents(mine)) != len(extents(theirs)):
        return declared
    sizes = [
        a if b == DYNAMIC_INDEX else b for a, b in zip(extents(mine), extents(theirs), strict=True)
    ]
    return array(theirs.element_type, sizes)


def takes(found: Attribute, declared: Attribute) -> bool:
    """Whether a value is of a declared type; a future has become the context of its start."""
    if isinstance(declared, FutureType) and isinstance(found, TupleType):
        contents, outputs = tuple(declared.types.data), found.types.data[1]
        given = outputs.types.data if isinstance(outputs, TupleType) else (outputs,)
        return len(contents) == len(given) and all(map(fits, given, contents))
    return fits(found, declared)


def returns(found: Attribute, declared: Attribute) -> bool:
    """Whether a function with a declared result returns this type: bounds are part of it."""
    if isinstance(declared, FutureType):
        return takes(found, declared)
    return fits(found, declared) if is_unbounded(declared) else found == declared


HLO_SHARDING = "mhlo.sharding"


def kept_entries(entries: Mapping[str, Attribute], op: Operation) -> dict[str, Attribute]:
    """What stays of the attributes of `op`: all as they are, shardings of HLO with structure."""
    kept = dict(entries)
    sharding = kept.get(HLO_SHARDING)
    if isinstance(sharding, StringAttr) and sharding.data.startswith("{"):
        try:
            kept[HLO_SHARDING] = HloShardingAttr(HloSharding.read(sharding.data))
        except SpellingError as error:
            raise SourceError(op, f"{HLO_SHARDING}: {error}") from None
    return kept


def attributes_of_values(op: FuncOp, name: str, count: int) -> ArrayAttr[DictionaryAttr] | None:
    """The attributes of parameters or results; none where all dictionaries are empty."""
    value = op.properties.get(name)
    if value is None:
        return None
    entries = cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else ()
    found = [entry for entry in entries if isinstance(entry, DictionaryAttr)]
    check(
        len(found) == count and len(entries) == count,
        "{} is not a list of {} dictionaries",
        name,
        count,
    )
    if not any(entry.data for entry in found):
        return None
    return ArrayAttr(DictionaryAttr(kept_entries(entry.data, op)) for entry in found)


_MAX_SHAPE = 1 << 12
"""Larger arrays are no shapes."""


class ShapeValues:
    """Constant values of shape computations; each is folded once, by the reference."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Any] = {}

    @cached_property
    def _interpreter(self) -> Any:
        # Only programs with dynamic dimensions need it: reading others does not load it.
        from xla_dialect.reference.interpreter import (  # noqa: PLC0415
            ReferenceInterpreter,
            register_reference,
        )

        found = ReferenceInterpreter(ModuleOp([]))
        register_reference(found)
        return found

    def integers(self, value: SSAValue) -> tuple[int, ...] | None:
        """The elements of an array of integers, None where they depend on the arguments."""
        type_ = as_array(value.type)
        if type_ is None or not isinstance(type_.element_type, IntegerType):
            return None
        found = self._value(value)
        return None if found is None else tuple(int(number) for number in found.reshape(-1))

    def _value(self, value: SSAValue) -> np.ndarray[Any, Any] | None:
        """The array, None where it is not known; without recursion, for chains are long."""
        stack = [value]
        while stack:
            current = stack[-1]
            owner = current.owner
            if current in self._known:
                stack.pop()
                continue
            if not isinstance(owner, XlaOp) or not _is_small(owner):
                self._known[current] = None
                continue
            size = _dimension_size(owner)
            if size is not None:
                self._compute(owner, size)
                continue
            missing = [operand for operand in owner.operands if operand not in self._known]
            if missing:
                stack.extend(missing)
                continue
            self._compute(owner, None)
        return self._known[value]

    def _compute(self, op: XlaOp, size: int | None) -> None:
        operands = [self._known.get(operand) for operand in op.operands]
        values: Any = None
        if size is not None:
            values = (import_module("numpy").array(size, "int32"),)
        elif all(operand is not None for operand in operands):
            try:
                values = self._interpreter.run_op(op, tuple(operands))
            except XlaError:
                values = None
        for i, result in enumerate(op.results):
            self._known[result] = None if values is None else values[i]


def _is_small(op: Operation) -> bool:
    if op.regions:
        return False
    types = [as_array(result.type) for result in op.results]
    return all(t is not None and element_count(extents(t)) <= _MAX_SHAPE for t in types)


def _dimension_size(op: Operation) -> int | None:
    """The size that `get_dimension_size` gives, of a static dimension."""
    if not isinstance(op, GetDimensionSizeOp):
        return None
    type_ = as_array(op.operand.type)
    dimension = op.dimension.value.data
    sizes = () if type_ is None else type_.get_shape()
    if not 0 <= dimension < len(sizes) or sizes[dimension] < 0:
        return None
    return sizes[dimension]


MAX_CALL_DEPTH = 64
"""Calls of functions with unbounded dimensions do not nest deeper."""


def sizes_of(type_: Attribute) -> tuple[int, ...]:
    """The dimension sizes of an array type, bounds where dynamic; none of any other."""
    if not isinstance(type_, TensorType):
        return ()
    return xla.sizes_of(cast(Array, type_))


def gives_index(op: Operation) -> bool:
    """Whether an operation, or a function by its type, may have values of type `index`."""
    return op.GIVES_INDEX if isinstance(op, StableHloOp) else op.name in _PASS_ON


def check_index_operands(op: Operation) -> None:
    """Raises VerifyException for an operand of type `index` that is not the shape of a result."""
    if isinstance(op, StableHloOp):
        op.check_indices()
    elif op.name not in _PASS_ON and any(is_index(operand.type) for operand in op.operands):
        raise VerifyException(f"an operand is no array: {NO_ELEMENT_TYPE}")


_PASS_ON = ("func.func", "func.call", "func.return")
"""Operations that only forward values."""


def array_type(type_: Attribute, op: Operation) -> Array:
    """
    The array type of the `xla` dialect for one of StableHLO, its bounds in the layout.

    A quantized array is one of the integers that are stored.

    Raises VerifyException for what is no array of XLA, SourceError, at `op`, for one that is too
    large, and UnknownShape for one that another dialect encodes.
    """
    check(isinstance(type_, TensorType), "it is no array, tuple or token")
    array = cast(Array, type_)
    sizes = array.get_shape()
    quantization = quantization_of(array)
    if quantization is not None:
        fault = quantization.fault_in([None if n == DYNAMIC_INDEX else n for n in sizes])
        check(fault is None, "{}", fault)
        array = with_element_type(array, quantization.storage)
    check(
        element_class(array.element_type),
        "{} is not an element type of XLA",
        array.element_type,
    )
    if isinstance(array.encoding, Bounds):
        array = with_bounds(array)
    if isinstance(array.encoding, LayoutAttr):
        try:
            array.encoding.data.validate(sizes)
        except LayoutError as error:
            raise VerifyException(str(error)) from None
    if element_count([size for size in extents(array) if size > 0]) > MAX_ELEMENTS:
        raise SourceError(op, "(Size) an array has more than 2^63 - 1 elements")
    if has_foreign_encoding(array):
        raise UnknownShape(
            op, message=f"nothing here computes arrays that are encoded as {array.encoding}"
        )
    return array


def sizes_from_operand(op: StableHloOp, conversion: Conversion, position: int) -> tuple[int, ...]:
    """The integers of an operand that says a shape; an error where they are not constant."""
    value = conversion.operands(op)[position]
    type_ = as_array(value.type)
    if (
        type_ is None
        or len(type_.get_shape()) != 1
        or not element_class(type_.element_type) & ElementClass.INTEGER
    ):
        raise VerifyException(f"operand {position} is {spell(value.type)}, not a list of sizes")
    return conversion.known_integers(op, position)


def sized_result(
    op: StableHloOp, conversion: Conversion, sizes: Sequence[int], number: int = 0
) -> Array:
    """The type of a result with the sizes that an operand says."""
    declared = conversion.result_types(op)[number]
    element_type = as_array(declared)
    if element_type is None or min(sizes, default=0) < 0:
        raise VerifyException(f"sizes {list(sizes)} for {spell(declared)}")
    result = array(element_type.element_type, sizes)
    check(fits(result, declared), "declared {}, the sizes are {}", spell(declared), list(sizes))
    return result


@contextmanager
def rules_of(op: Operation) -> Generator[None]:
    """Inside, what breaks a rule is an error of the operation."""
    try:
        yield
    except VerifyException as error:
        raise SourceError(op, str(error)) from None


class Conversion:
    """The state of one conversion: what has been converted to what, and where to put more."""

    def __init__(self, places: Mapping[Operation, LocationAttr]):
        """
        `places`: where in the text operations stand whose own location, from the text, says
        something else.
        """
        self.explicit_locations: dict[Operation, LocationAttr] = {}
        """Operations and their `loc(...)`, set after verification: errors point into the text."""
        self.meshes: dict[str, Mesh] = {}
        """The meshes of the module by name."""
        self._places = places
        self._values: dict[SSAValue, SSAValue] = {}
        self._types: dict[Attribute, Attribute] = {}
        self._refined: dict[Operation, list[Attribute]] = {}
        self._shapes = ShapeValues()
        self.functions: dict[str, func.FuncOp] = {}
        """The functions of the parsed module."""
        self._inlined: list[str] = []
        self.refines = False
        """Whether there is an array type with an unbounded dimension, to be refined."""
        self._has_indices = False
        """Whether there is an array of type `index`, which few operations take."""
        self._current: Operation | None = None
        self._block = Block()
        self._location: LocationAttr = UNKNOWN_LOC

    # What patterns use

    def emit(
        self,
        op_class: type[XlaOp],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Sequence[SSAValue]:
        """Adds an operation at the current place and returns its results."""
        op = create(
            op_class,
            operands=operands,
            result_types=result_types,
            properties=properties or {},
            regions=regions,
        )
        if self.refines and any(map(is_unbounded, result_types)):
            self.refine(op, result_types)
        return self.add(op)

    def replaced(
        self,
        op: Operation,
        op_class: type[XlaOp],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Sequence[SSAValue]:
        """Adds an operation with the operands and the results of a parsed one."""
        operands, types = self.operands(op), self.result_types(op)
        return self.emit(op_class, operands, types, properties, regions)

    def refine(self, op: XlaOp, declared: Sequence[Attribute]) -> None:
        """Gives an operation the result types that follow from its operands; VerifyException."""
        if op.contract().takes_declared and op.operands and not self._infers(op, declared):
            # The element type is the declared one, the sizes are those of the first operand.
            op.set_result_types([sized_like(op.operands[0].type, type_) for type_ in declared])
        types = op.infer_types()
        if len(types) != len(declared) or not all(map(fits, types, declared)):
            found = f"declared {spell_all(declared)}, found {spell_all(types)}"
            raise VerifyException(found)
        if any(map(is_unbounded, types)):
            message = f"result {spell_all(types)}: its dimensions are dynamic"
            raise UnknownShape(cast(Operation, self._current), message=message)
        op.set_result_types(types)

    def _infers(self, op: XlaOp, declared: Sequence[Attribute]) -> bool:
        """Whether the results follow without declared ones, and are like these."""
        op.set_result_types(())
        try:
            types = op.infer_types()
        except VerifyException:
            return False
        return len(types) == len(declared) and all(map(fits, types, declared))

    def constant_integers(self, value: SSAValue) -> tuple[int, ...] | None:
        """The elements of an array of integers, None where they depend on the arguments."""
        return self._shapes.integers(value)

    def known_integers(self, op: Operation, position: int) -> tuple[int, ...]:
        """The elements of an operand of a parsed operation; raises UnknownShape."""
        found = self.constant_integers(self.operands(op)[position])
        if found is None:
            raise UnknownShape(op, position)
        return found

    def add(self, op: Operation) -> Sequence[SSAValue]:
        """Adds an operation at the current place and returns its results."""
        op.location = self._location
        append(self._block, op)
        return op.results

    def made(self, op: XlaOp) -> SSAValue:
        """Adds an operation, whose result types are inferred; returns its only result."""
        return self.add(op)[0]

    def reshaped(self, value: SSAValue, sizes: Sequence[int]) -> SSAValue:
        """Adds what gives an array these sizes."""
        type_ = array(cast(Array, value.type).element_type, sizes)
        return self.emit(ReshapeOp, [value], [type_])[0]

    def constant(self, type_: Attribute, numbers: Iterable[Any]) -> SSAValue:
        """Adds a constant array of these elements, in row-major order."""
        literal = DenseIntOrFPElementsAttr.from_list(cast(Any, type_), list(numbers))
        return self.emit(ConstantOp, (), [type_], {"value": literal})[0]

    def broadcast(
        self, value: SSAValue, type_: Attribute, dimensions: Iterable[int] = ()
    ) -> SSAValue:
        """Adds what repeats an array, whose dimensions become these, in one of a type."""
        properties = {"dimensions": integers(dimensions)}
        return self.emit(BroadcastOp, [value], [type_], properties)[0]

    def element(self, vector: SSAValue, index: int) -> SSAValue:
        """Adds what takes one element out of an array of one dimension."""
        part = SliceOp(vector, start_indices=[index], limit_indices=[index + 1], strides=[1])
        return self.reshaped(self.made(part), ())

    def operands(self, op: Operation) -> list[SSAValue]:
        """The converted operands of a parsed operation."""
        return [self._values[operand] for operand in operands_of(op)]

    def result_types(self, op: Operation) -> list[Attribute]:
        """The converted result types of a parsed operation."""
        return self._refined.get(op) or [self.type(result.type, op) for result in op.results]

    def refine_results(self, op: Operation, types: Sequence[Attribute]) -> None:
        """Sets the converted result types, where more is known than a parsed operation says."""
        self._refined[op] = list(types)

    def type(self, type_: Attribute, op: Operation) -> Attribute:
        """The type of the `xla` dialect for a type of StableHLO; errors are those of `op`."""
        found = self._types.get(type_)
        if found is None:
            try:
                found = self._convert_type(type_, op)
                check(not is_index(type_) or gives_index(op), NO_ELEMENT_TYPE)
            except VerifyException as error:
                raise SourceError(op, f"type {type_} is not supported: {error}") from None
            if is_index(type_):
                self._has_indices = True
            else:
                self._types[type_] = found
        return found

    def region(
        self, region: Region, op: Operation, types: Sequence[Attribute] | None = None
    ) -> Region:
        """
        The computation for a region of a parsed operation.

        `types` are those of what it is applied to: they replace declared ones without bounds.
        """
        block = region.first_block
        if block is None or block.next_block is not None:
            raise SourceError(op, f"a region has {len(region.blocks)} blocks instead of one")
        return Region(self._convert_block(block, op, "stablehlo.return", types))

    def regions(self, op: Operation) -> list[Region]:
        """The computations for all regions of a parsed operation, applied to its operands."""
        types = [operand.type for operand in self.operands(op)] if op.regions else ()
        return [self.region(region, op, types) for region in op.regions]

    def inline(
        self, region: Region, op: Operation, arguments: Sequence[SSAValue], terminator: str
    ) -> list[SSAValue]:
        """Adds the operations of a region at the current place; what it returns on `arguments`."""
        block = region.first_block
        last = None if block is None else block.last_op
        if block is None or block.next_block is not None or last is None or last.name != terminator:
            raise SourceError(op, f"its region is not one block that ends with {terminator}")
        for old, new in zip(block.args, arguments, strict=True):
            check(
                takes(new.type, self.type(old.type, op)),
                "its region takes {} where {} is given",
                old.type,
                new.type,
            )
            self._values[old] = new
        for inner in block.ops:
            if inner is not last:
                self.convert_operation(inner)
        return self.operands(last)

    def function_to_inline(self, name: str, operands: Sequence[SSAValue]) -> func.FuncOp | None:
        """
        The function of this name, if its calls must be inlined to have static shapes.

        That is one with arrays of unbounded size or futures, or one that computes sizes.
        """
        function = self.functions.get(name)
        if function is not None and is_dynamic(function):
            return function
        if not self.refines:
            return None
        computes_sizes = bool(operands) and all(
            self._shapes.integers(operand) is not None for operand in operands
        )
        return function if computes_sizes else None

    def inline_call(self, op: Operation, function: func.FuncOp) -> list[SSAValue]:
        """
        What a function computes on the operands of a call, in the place of the call.

        Its types, and the constants that shapes are made of, follow from the operands.
        """
        name = function.sym_name.data
        check(
            name not in self._inlined and len(self._inlined) < MAX_CALL_DEPTH,
            "calls of @{} are recursive, or too deep",
            name,
        )
        operands = self.operands(op)
        check(
            len(function.args) == len(operands), "@{} takes {} operands", name, len(function.args)
        )
        self._inlined.append(name)
        results = self.inline(function.body, op, operands, "func.return")
        self._inlined.pop()
        declared = self.result_types(op)
        check(
            len(results) == len(declared)
            and all(
                takes(value.type, type_) for value, type_ in zip(results, declared, strict=True)
            ),
            "@{} returns other types than {}",
            name,
            spell_all(declared),
        )
        return results

    def computation(self, name: str, op: Operation) -> Region:
        """What a function of the module computes, as the computation of an operation."""
        function = self.functions.get(name)
        is_open = function is not None and is_dynamic(function)
        if function is None or is_open or not function.body.blocks:
            raise SourceError(op, f"there is no function @{name} with static types and a body")
        outer = self._block
        block = self._block = Block(arg_types=[self.type(a.type, op) for a in function.args])
        self.emit(ReturnOp, self.inline(function.body, op, block.args, "func.return"), ())
        self._block = outer
        return Region(block)

    # The walk

    def module(
        self, module: ModuleOp, argument_types: Sequence[Attribute] | None = None
    ) -> ModuleOp:
        """
        The module of `func.func` with operations of the `xla` dialect inside.

        `argument_types` are those of public functions whose parameters have unbounded dimensions;
        private functions of that kind are put in the place of their calls.
        """
        kept = kept_entries(module.attributes, module)
        functions: dict[str, func.FuncOp] = {}
        for op in module.ops:
            if op.name == MESH:
                with rules_of(op):
                    op.verify()
                    mesh = cast("MeshOp", op)
                    name = mesh.sym_name.data
                    require(name not in self.meshes, "SH2", "there is a mesh @{} already", name)
                self.meshes[name] = mesh.mesh.data
            elif isinstance(op, func.FuncOp) and "sym_name" in op.properties:
                self.functions[op.sym_name.data] = op
        for function in self.functions.values():
            end_with_return(function)
        for op in module.ops:
            # Private functions that take unknown sizes are only put in the place of their calls.
            if op.name == MESH or (is_dynamic(op) and is_private(op)):
                continue
            with rules_of(op):
                given = argument_types if takes_dynamic(op) else None
                function = self._convert_function(op, given)
                name = function.sym_name.data
                check(name not in functions, "there is a function @{} already", name)
            functions[name] = function
        result = ModuleOp(functions.values(), kept, module.sym_name)
        set_meshes(result, self.meshes)
        return result

    def _convert_function(
        self, op: Operation, argument_types: Sequence[Attribute] | None
    ) -> func.FuncOp:
        if not isinstance(op, func.FuncOp):
            raise VerifyException("a module contains functions only")
        type_ = op.properties.get("function_type")
        if not isinstance(type_, FunctionType) or not isinstance(
            op.properties.get("sym_name"), StringAttr
        ):
            raise VerifyException("a function has a name and a function type")
        check_properties(op, _FUNCTION_PROPERTIES)
        self._location = self.place_of(op)
        inputs = [self.type(t, op) for t in type_.inputs.data]
        outputs = [self.type(t, op) for t in type_.outputs.data]
        if argument_types is not None:
            argument_types = [self.type(t, op) if is_index(t) else t for t in argument_types]
            check(
                len(argument_types) == len(inputs) and all(map(fits, argument_types, inputs)),
                "takes {}, the arguments are {}",
                spell_all(inputs),
                spell_all(argument_types),
            )
            inputs = argument_types
        self._current = op
        body = self._convert_body(op, inputs, outputs)
        returned = None if body.first_block is None else body.first_block.last_op
        if returned is not None:
            outputs = [value.type for value in returned.operands]
        result = func.FuncOp(
            op.sym_name.data,
            (inputs, outputs),
            body,
            op.sym_visibility,
            arg_attrs=attributes_of_values(op, "arg_attrs", len(inputs)),
            res_attrs=attributes_of_values(op, "res_attrs", len(outputs)),
        )
        result.attributes.update(kept_entries(op.attributes, op))
        result.location = self.place_of(op)
        if self._says_its_location(op):
            self.explicit_locations[result] = op.location
        return result

    def _convert_body(
        self, op: func.FuncOp, inputs: Sequence[Attribute], outputs: Sequence[Attribute]
    ) -> Region:
        block = op.body.first_block
        if block is None:
            return Region()
        if block.next_block is not None:
            raise VerifyException("a function body has one block")
        check(
            len(block.args) == len(inputs)
            and all(
                fits(mine, self.type(argument.type, op))
                for mine, argument in zip(inputs, block.args, strict=True)
            ),
            "the arguments of the body differ from the function type",
        )
        body = self._convert_block(block, op, "func.return", inputs)
        returned = [value.type for value in cast(Operation, body.last_op).operands]
        end = cast(Operation, block.last_op)
        # The operations of some results know their sizes better than the text.
        declared = [self.type(value.type, end) for value in end.operands]
        if declared != outputs and not (
            len(returned) == len(outputs) and all(map(returns, returned, outputs))
        ):
            raise SourceError(
                end,
                f"returns {_list_of(returned)}, the function type of "
                f"@{op.sym_name.data} says {_list_of(outputs)}",
            )
        return Region(body)

    def _convert_block(
        self,
        block: Block,
        parent: Operation,
        terminator: str,
        given: Sequence[Attribute] | None = None,
    ) -> Block:
        """The block with all its operations converted; it has to end with the terminator."""
        outer = self._block, self._location, self._current
        types = [self.type(a.type, parent) for a in block.args]
        if given is not None and len(given) == len(types):
            types = [
                mine if is_unbounded(type_) and fits(mine, type_) else type_
                for mine, type_ in zip(given, types, strict=True)
            ]
        result = self._block = Block(arg_types=types)
        for old, new in zip(block.args, result.args, strict=True):
            self.define(old, new)
            new.location = old.location
        last = block.last_op
        if last is None or last.name != terminator:
            found = "nothing" if last is None else last.name
            raise SourceError(parent, f"its region ends with {found}, not with {terminator}")
        for op in block.ops:
            self.convert_operation(op)
        self._block, self._location, self._current = outer
        return result

    def convert_operation(self, op: Operation) -> None:
        """Adds what an operation becomes at the current place."""
        self._location = self.place_of(op)
        self._current = op
        before = self._block.last_op
        # Patterns add the attributes that are to be kept, and take away others.
        attributes = op.attributes
        op.attributes = dict(attributes)
        try:
            is_end = op.next_op is None or op.name not in _TERMINATORS
            check(is_end, "stands before the end of its block")
            if self._has_indices:
                check_index_operands(op)
            if isinstance(op, StableHloOp):
                if op.attributes:
                    known = op.get_irdl_definition().properties
                    warn_of_misspellings(op, known, self._location)
                if op.CODECS:
                    op.attributes.update(op.xla_attributes())
                results = self.convert(op)
            elif (pattern := _pattern(type(op))) is not None:
                results = pattern(op, self)
            else:
                raise VerifyException("this operation is not supported here")
            for old, new in zip(op.results, results, strict=True):
                self.define(old, new)
            made = self._block.last_op
            # Elements of a tuple are taken last: the operation is what makes the tuple.
            while isinstance(made, GetTupleElementOp) and made.prev_op is not before:
                made = made.prev_op
            if op.attributes and made is not None and made is not before:
                self._keep_attributes(op, made)
        except VerifyException as error:
            raise SourceError(op, str(error)) from None
        finally:
            op.attributes = attributes
            self._refined.pop(op, None)
        if self._says_its_location(op):
            self._remember_location(op.location, before)

    def _keep_attributes(self, op: Operation, made: Operation) -> None:
        """Gives the attributes of an operation to the last one that is made of it."""
        entries = kept_entries(op.attributes, op)
        rule = entries.get(SHARDING_RULE)
        if isinstance(rule, ShardingRuleAttr):
            taken, sizes = sizes_of_arrays(op.operand_types), sizes_of_arrays(made.operand_types)
            # The rule says how the operands of the source are divided: others have none.
            if list(map(len, taken)) != list(map(len, sizes)):
                check_rule(rule, op)
                del entries[SHARDING_RULE]
        made.attributes.update(entries)

    def convert(self, op: StableHloOp) -> Sequence[SSAValue]:
        """What the results of an operation become."""
        return self.by_pattern(op)

    def by_pattern(self, op: StableHloOp) -> Sequence[SSAValue]:
        """What the results of an operation become, whatever its operands stand for."""
        assert isinstance(op, StableHloOp)
        pattern = _pattern(type(op))
        if pattern is not None:
            if op.SAME is None:
                op.verify_types(
                    [operand.type for operand in self.operands(op)], self.result_types(op)
                )
            return pattern(op, self)
        assert op.SAME is not None
        properties = op.xla_properties([operand.type for operand in self.operands(op)])
        regions = self.regions(op)
        operands = self.operands_of_xla(op, regions)
        return self.emit(op.SAME, operands, self.result_types(op), properties, regions)

    def operands_of_xla(self, op: StableHloOp, regions: Sequence[Region]) -> list[SSAValue]:
        """The operands of an operation with these regions, in the types that `xla` has them in."""
        operands = self.operands(op)
        types = [operand.type for operand in operands]
        wanted = op.xla_operand_types(types, regions)
        if wanted is not types:
            for i, type_ in enumerate(wanted):
                if type_ is not types[i]:
                    operands[i] = self.emit(ConvertOp, [operands[i]], [type_])[0]
        return operands

    def value(self, value: SSAValue) -> SSAValue:
        """What a parsed value has become."""
        return self._values[value]

    def define(self, old: SSAValue, new: SSAValue) -> None:
        """Says what a value becomes, which gets its name."""
        self._values[old] = new
        if old.name_hint is not None:
            new.name_hint = old.name_hint

    # Where things stand

    def place_of(self, op: Operation) -> LocationAttr:
        """The location of an operation; by default that of the operation being converted."""
        place = self._places.get(op, op.location)
        return place if isinstance(place, FileLineColLoc) else self._location

    def _says_its_location(self, op: Operation) -> bool:
        """Whether an operation has another location than where it stands."""
        return op in self._places or not isinstance(op.location, FileLineColLoc | UnknownLoc)

    def _remember_location(self, location: LocationAttr, before: Operation | None) -> None:
        """
        Notes the location that the text gives to the operations after `before`, but for those that
        come from operations inside, with locations of their own.
        """
        op = self._block.last_op
        while op is not None and op is not before:
            self.explicit_locations.setdefault(op, location)
            op = op.prev_op

    # Types

    def _convert_type(self, type_: Attribute, op: Operation) -> Attribute:
        if isinstance(type_, attributes.TokenType | TokenType):
            return TokenType()
        if isinstance(type_, TupleType):
            check(not any(map(is_index, type_.types.data)), NO_ELEMENT_TYPE)
            elements = (cast(TypeAttribute, self.type(t, op)) for t in type_.types.data)
            return TupleType(tuple(elements))
        if isinstance(type_, attributes.FutureType):
            self.refines = True
            return attributes.FutureType(ArrayAttr(self.type(t, op) for t in type_.types.data))
        if isinstance(type_, UnrankedTensorType):
            element_type = cast("UnrankedTensorType[Attribute]", type_).element_type
            array_type(TensorType(element_type, ()), op)
            self.refines = True
            return cast(Attribute, type_)
        plain = integers_for_index(type_) if is_index(type_) else type_
        array = array_type(plain, op)
        if DYNAMIC_INDEX in extents(array):
            self.refines = True
        return array


_TERMINATORS = ("stablehlo.return", "func.return", "sdy.return")


def end_with_return(function: func.FuncOp) -> None:
    """JAX ends functions that custom calls name, as comparators of top-k, as regions end."""
    block = function.body.first_block
    last = None if block is None else block.last_op
    if last is not None and last.name == "stablehlo.return":
        end = func.ReturnOp(*last.operands)
        end.location = last.location
        Rewriter.replace_op(last, end)


def _list_of(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


_FUNCTION_PROPERTIES = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


def check_properties(op: Operation, known: Sequence[str]) -> None:
    """Properties that would be lost are an error."""
    for name in op.properties:
        check(name in known, "unknown attribute {!r}", name)


Legalize: TypeAlias = Callable[[Operation, Conversion], Sequence[SSAValue]]
"""Emits what replaces an operation; returns what its results become."""


@cache
def _pattern(op_class: type[Operation]) -> Legalize | None:
    """What an operation becomes that differs in more than its class states."""
    module = op_class.__module__.rpartition(".")[2]
    family = _BESIDE.get(module, module)
    if family not in FAMILIES:
        return None
    patterns: Mapping[type[Operation], Legalize] = import_module(
        f"xla_dialect.stablehlo.legalize.{family}"
    ).TO_XLA
    return patterns.get(op_class)


_BESIDE = {"func": "program", "self_checking": "program", "shardy": "sharding"}
"""From modules with operations beside the families to the patterns for them."""
