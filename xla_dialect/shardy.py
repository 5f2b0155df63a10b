"""Shardy, the dialect `sdy`: meshes, and operations that say how arrays are spread over devices.

An operation that gives an array gives its operand: what changes is where the parts of it are. The
rules are those of docs/specification/shardings.md. They need the meshes of a module, so each
operation has them in `check`, for whoever knows the meshes already.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Dialect, Operation, OpResult, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    eq,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    UniqueBaseAttributeVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    ATTRIBUTES,
    SHARDING,
    AxisListAttr,
    AxisListsAttr,
    AxisMovesAttr,
    ManualAxesAttr,
    MeshAttr,
    Meshes,
    ShardingAttr,
    ShardingPerValueAttr,
    TokensAttribute,
    check_sharding,
    meshes_around,
    parameter_shardings,
)
from xla_dialect.sharding.mesh import (
    AxisList,
    AxisLists,
    AxisMoves,
    AxisReference,
    Mesh,
    Sizes,
    axes_in,
    check_axes,
    check_order,
    in_mesh_order,
    merged_axes,
    spell_axes,
)
from xla_dialect.violations import Violation, check, require
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.text import parse_literal, print_literal

# Syntax


@irdl_custom_directive
class Bare(CustomDirective):
    """An attribute of Shardy, `<@mesh, [{"x"}]>`: its name may be left out."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the attribute, of the class that the definition of the operation names."""
        variable = cast(UniqueBaseAttributeVariable, self.attribute)
        attribute_class = cast("type[TokensAttribute[Any]]", variable.unique_base)
        self.attribute.set(state, attribute_class.parse_bare(parser))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the attribute without its name."""
        state.print_whitespace(printer)
        cast("TokensAttribute[Any]", self.attribute.get(op)).print_bare(printer)

    def is_anchorable(self) -> bool:
        """An optional group may depend on the attribute."""
        return self.attribute.is_anchorable()

    def is_present(self, op: IRDLOperation) -> bool:
        """Whether the operation has it."""
        return self.attribute.is_present(op)


@irdl_custom_directive
class Direction(CustomDirective):
    """`NONE`, for the number that the generic form has."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the word."""
        position = parser.pos
        word = parser.parse_identifier()
        if word not in DIRECTIONS:
            parser.raise_error(f"expected one of {', '.join(DIRECTIONS)}, found {word}", position)
        self.attribute.set(state, IntegerAttr(DIRECTIONS.index(word), i32))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the word."""
        state.print_whitespace(printer)
        number = cast("IntegerAttr[Any]", self.attribute.get(op))
        printer.print_string(DIRECTIONS[number.value.data])


# What operations say


class ShardyOp(IRDLOperation):
    """An operation of Shardy on values."""

    def said(self, number: int) -> Sharding | None:
        """The sharding that the operation gives to one of its results."""
        return None

    def check(self, meshes: Meshes) -> None:
        """Raises VerifyException where the operation breaks a rule of shardings."""

    def verify_(self) -> None:
        """Raises VerifyException where the operation breaks a rule of shardings."""
        self.check(meshes_around(self))


def sharding_of(value: SSAValue) -> Sharding | None:
    """What is said of a value where it is defined; None where nothing is said."""
    owner = value.owner
    if isinstance(value, OpResult):
        if isinstance(owner, ShardyOp):
            return owner.said(value.index)
        return _entry(cast(Operation, owner).attributes.get(SHARDING), value.index)
    index: int = cast(Any, value).index
    match owner.parent_op():
        case FuncOp() as function:
            given = parameter_shardings(function)
            return given[index] if index < len(given) else None
        case ComputationOp() as computation:
            return computation.said_inside(index)
        case Operation(name="stablehlo.while") as loop:
            return _entry(loop.attributes.get(SHARDING), index)
        case _:
            return None


def _entry(found: Attribute | None, index: int) -> Sharding | None:
    match found:
        case ShardingAttr():
            return found.data
        case ShardingPerValueAttr() if index < len(found.data):
            return found.data[index]
        case _:
            return None


def _check_shardings(
    name: str, shardings: Sequence[Sharding], types: Sequence[Attribute], meshes: Meshes
) -> None:
    require(
        len(shardings) == len(types),
        "SH9",
        "{} has {} entries for {} values",
        name,
        len(shardings),
        len(types),
    )
    for sharding, type_ in zip(shardings, types, strict=True):
        check_sharding("sharding", sharding, type_, meshes)


def _axes_named_by(op: Operation) -> Iterator[str]:
    """The names of axes in the attributes of an operation."""
    for value in (*op.properties.values(), *op.attributes.values()):
        match value:
            case ShardingAttr():
                yield from (axis.name for axis in value.data.used_axes)
            case ShardingPerValueAttr():
                yield from (axis.name for said in value.data for axis in said.used_axes)
            case AxisListAttr() | AxisListsAttr() | AxisMovesAttr():
                yield from (axis.name for axis in axes_in(value.data))
            case ManualAxesAttr():
                yield from value.data
            case _:
                pass


# Operations


@op_definition
class MeshOp(IRDLOperation):
    """A mesh of a module, by name."""

    name = "sdy.mesh"

    sym_name = prop_def(SymbolNameConstraint())
    mesh = prop_def(MeshAttr)

    traits = traits_def(SymbolOpInterface())
    assembly_format = "$sym_name `=` custom<Bare>($mesh) attr-dict"


@op_definition
class ConstantOp(ShardyOp):
    """A constant that each of its uses may split in its own way."""

    name = "sdy.constant"

    value = prop_def()
    output = result_def()

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        """Parses `{attributes} dense<...> : type`."""
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parse_literal(parser)
        type_ = getattr(value, "type", None)
        if not isinstance(type_, TensorType):
            parser.raise_error("expected dense<...> or dense_resource<...>", position)
        return ConstantOp.create(
            result_types=[cast(Attribute, type_)],
            properties={"value": value},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Prints what `parse` parses."""
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        print_literal(self.value, printer)


class _AnnotationOp(ShardyOp):
    """An operation on one operand, which it gives back or has no result."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    input = operand_def(T)


class _ResultOp(_AnnotationOp):
    """One that gives its operand."""

    result = result_def(_AnnotationOp.T)

    def said(self, number: int) -> Sharding | None:
        """The sharding of its result."""
        for found in self.properties.values():
            if isinstance(found, ShardingAttr):
                return found.data
        return None

    def check(self, meshes: Meshes) -> None:
        """Its sharding is one of its result."""
        for name, found in self.properties.items():
            if isinstance(found, ShardingAttr):
                check_sharding(name, found.data, self.result.type, meshes)


@op_definition
class ShardingConstraintOp(_ResultOp):
    """The operand, which is to have a sharding."""

    name = "sdy.sharding_constraint"

    sharding = prop_def(ShardingAttr)

    assembly_format = "$input custom<Bare>($sharding) attr-dict `:` type($result)"


@op_definition
class ReshardOp(_ResultOp):
    """The operand in another sharding."""

    name = "sdy.reshard"

    sharding = prop_def(ShardingAttr)

    assembly_format = ShardingConstraintOp.assembly_format


class _EdgeOp(_ResultOp):
    """All values of an edge of data flow, as one."""

    def check(self, meshes: Meshes) -> None:
        """The operand has no other uses, and is not that of an operation without edges."""
        owner = self.input.owner
        if isinstance(owner, ShardyOp) and not owner.regions:
            message = f"(SH19) its operand is given by {owner.name}, which has no edges"
            raise VerifyException(message)
        require(self.input.has_one_use(), "SH19", "its operand has other uses")
        super().check(meshes)


@op_definition
class DataFlowEdgeOp(_EdgeOp):
    """Values that go into a loop or a branch, and those that come out of it."""

    name = "sdy.data_flow_edge"

    sharding = opt_prop_def(ShardingAttr)

    assembly_format = (
        "$input (`sharding` `` `=` `` custom<Bare>($sharding)^)? attr-dict `:` type($result)"
    )


@op_definition
class FuncDataFlowEdgeOp(_EdgeOp):
    """A parameter or a result of a function, and what its calls pass."""

    name = "sdy.func_data_flow_edge"

    assembly_format = "$input attr-dict `:` type($result)"


DIRECTIONS = ("NONE", "FORWARD", "BACKWARD", "BOTH")
"""The ways in which shardings pass a barrier, by their numbers."""


@op_definition
class PropagationBarrierOp(_ResultOp):
    """The operand; shardings pass in one direction at most."""

    name = "sdy.propagation_barrier"

    allowed_direction = prop_def(IntegerAttr.constr(type=eq(i32)))

    assembly_format = (
        "$input `allowed_direction` `` `=` `` custom<Direction>($allowed_direction) attr-dict "
        "`:` type($result)"
    )

    def check(self, meshes: Meshes) -> None:
        """The direction is one that stops something."""
        number = self.allowed_direction.value.data
        check(
            0 <= number < len(DIRECTIONS),
            "allowed_direction is {}, not 0 to {}",
            number,
            len(DIRECTIONS) - 1,
        )
        require(DIRECTIONS[number] != "BOTH", "SH18", "allowed_direction is BOTH: it stops nothing")


@op_definition
class ShardingGroupOp(_AnnotationOp):
    """All values of a group have the same sharding."""

    name = "sdy.sharding_group"

    group_id = prop_def(IntegerAttr.constr(type=eq(i64)))

    assembly_format = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)"


# Collectives: the sharding of the result follows from that of the operand and the axes they name.
#
# A collective changes where the parts of an array are, not the array. `infer` is a function from
# the sharding of the operand to that of the result; it raises VerifyException where there is none.


class CollectiveOp(_ResultOp):
    """The operand in another sharding, or the sum of what devices have of it."""

    TAKES_UNSAID: ClassVar[bool] = False
    """Whether an operand of which nothing is said is one that every device has."""
    SAYS_UNREDUCED: ClassVar[bool] = False
    """Whether the result says what is unreduced; elsewhere Shardy's own passes leave it out."""
    PERMUTES: ClassVar[bool] = False
    """Whether only the number of parts of each dimension stays."""
    SUMS: ClassVar[bool] = False
    """Whether it adds up what devices have along its axes."""

    out_sharding = prop_def(ShardingAttr)

    @staticmethod
    @abstractmethod
    def infer(operand: Sharding, axes: Any, mesh: Mesh) -> Sharding:
        """The sharding of the result; of a permutation, which may change it, the operand's."""

    @property
    def axes(self) -> Any:
        """The axes that it names; None for a permutation."""
        named = (value for name, value in self.properties.items() if name != "out_sharding")
        found = cast("TokensAttribute[Any] | None", next(named, None))
        return None if found is None else found.data

    def operand_sharding(self) -> Sharding:
        """That of the operand; where none is said, all devices have all of it."""
        result = self.out_sharding.data
        return sharding_of(self.input) or Sharding.replicated_over(result.mesh, result.rank)

    def check(self, meshes: Meshes) -> None:
        """The sharding of the result is what follows from the operand and the axes."""
        super().check(meshes)
        said, result, axes = sharding_of(self.input), self.out_sharding.data, self.axes
        if said is not None:
            check_sharding("the operand's sharding", said, self.input.type, meshes)
        elif not self.TAKES_UNSAID:
            raise Violation("SH11", "the operand has no sharding")
        operand = self.operand_sharding()
        before, after = operand.mesh_in(meshes), result.mesh_in(meshes)
        assert before is not None and after is not None
        require(
            before == after or (self.PERMUTES and before.axes == after.axes),
            "SH12",
            "the operand is split over mesh <{}>, the result over <{}>",
            before,
            after,
        )
        expected = self.infer(operand, axes, before)
        for d, (wanted, found) in enumerate(zip(expected.axes, result.axes, strict=True)):
            counts = before.size(wanted), after.size(found)
            require(
                not self.PERMUTES or counts[0] == counts[1],
                "SH15",
                "dimension {} has {} parts, that of the operand {}",
                d,
                counts[1],
                counts[0],
            )
            require(
                self.PERMUTES or wanted == found,
                "SH13",
                "dimension {} of the result is split over {}, expected {}",
                d,
                spell_axes(found),
                spell_axes(wanted),
            )
        if self.SUMS:
            what = "the result is unreduced"
            _check_apart("SH16", axes_in(axes), what, result.unreduced, before)
        require(
            not self.SAYS_UNREDUCED or expected.unreduced == result.unreduced,
            "SH17",
            "the result is unreduced over {}, expected {}",
            spell_axes(result.unreduced),
            spell_axes(expected.unreduced),
        )


def _with_dimensions(sharding: Sharding, dimensions: Iterable[Sequence[AxisReference]]) -> Sharding:
    found = Sharding.of_axes(sharding.mesh, list(dimensions))
    return replace(found, unreduced=sharding.unreduced)


def _reduced(sharding: Sharding, axes: Iterable[AxisReference], mesh: Mesh) -> Sharding:
    axes = tuple(axes)
    left = (part for one in sharding.unreduced for part in one.without(axes, mesh.sizes))
    return replace(sharding, unreduced=tuple(left))


def _unreduced(sharding: Sharding, axes: Iterable[AxisReference], mesh: Mesh) -> Sharding:
    return replace(sharding, unreduced=in_mesh_order((*sharding.unreduced, *axes), mesh.sizes))


def _without(
    axes: Sequence[AxisReference], removed: Sequence[AxisReference], sizes: Sizes
) -> tuple[AxisReference, ...]:
    """The axes of a dimension without those at its end, of which the first may be a minor part."""
    left = list(axes)
    for axis in reversed(removed):
        last = left.pop() if left else None
        if last == axis:
            continue
        is_minor = (
            last is not None
            and last.contains(axis, sizes)
            and last.end_in(sizes) == axis.end_in(sizes)
            and axis.pre_size % last.pre_size == 0
        )
        rest = last.between(last.pre_size, axis.pre_size, sizes) if last and is_minor else None
        if rest is None:
            raise Violation("SH13", f"{spell_axes(axes)} does not end with {spell_axes(removed)}")
        left.append(rest)
    return tuple(left)


def _followed_by(
    axes: Sequence[AxisReference], added: Sequence[AxisReference], sizes: Sizes
) -> tuple[AxisReference, ...]:
    return merged_axes((*axes, *added), sizes)


def _check_lists(lists: AxisLists, rank: int, mesh: Mesh) -> None:
    require(
        len(lists) == rank,
        "SH13",
        "has axes of {} dimensions for an array of rank {}",
        len(lists),
        rank,
    )
    check_axes(lists, mesh.sizes)


def _check_set(axes: AxisList, mesh: Mesh) -> None:
    check_axes([axes], mesh.sizes)
    check_order("its", axes, mesh.sizes)


def _check_apart(
    label: str,
    axes: Iterable[AxisReference],
    what: str,
    others: Sequence[AxisReference],
    mesh: Mesh,
) -> None:
    for axis in axes:
        for other in others:
            require(
                not axis.overlaps(other, mesh.sizes),
                label,
                "axis {}: {} along {}",
                axis,
                what,
                other,
            )


def _collective_format(axes: str = "") -> str:
    named = f"custom<Bare>(${axes}) " if axes else ""
    return (
        f"{named}$input `out_sharding` `` `=` `` custom<Bare>($out_sharding) attr-dict "
        "`:` type($result)"
    )


@op_definition
class AllGatherOp(CollectiveOp):
    """Each dimension without the axes at its end."""

    name = "sdy.all_gather"

    gathering_axes = prop_def(AxisListsAttr)
    assembly_format = _collective_format("gathering_axes")

    @staticmethod
    def infer(operand: Sharding, axes: AxisLists, mesh: Mesh) -> Sharding:
        """Each dimension without the axes at its end."""
        _check_lists(axes, operand.rank, mesh)
        return _with_dimensions(
            operand, map(_without, operand.axes, axes, [mesh.sizes] * len(axes))
        )


@op_definition
class AllSliceOp(CollectiveOp):
    """Each dimension with the axes behind its own."""

    name = "sdy.all_slice"
    TAKES_UNSAID: ClassVar[bool] = True

    slicing_axes = prop_def(AxisListsAttr)
    assembly_format = _collective_format("slicing_axes")

    @staticmethod
    def infer(operand: Sharding, axes: AxisLists, mesh: Mesh) -> Sharding:
        """Dimensions with the axes behind their own; along these nothing is unreduced any more."""
        _check_lists(axes, operand.rank, mesh)
        added = axes_in(axes)
        _check_apart("SH13", added, "the operand is split", tuple(operand.split_axes), mesh)
        both = map(_followed_by, operand.axes, axes, [mesh.sizes] * len(axes))
        return _reduced(_with_dimensions(operand, both), axes_in(axes), mesh)


@op_definition
class AllToAllOp(CollectiveOp):
    """The axes at the end of one dimension go to the end of another."""

    name = "sdy.all_to_all"

    params = prop_def(AxisMovesAttr)
    assembly_format = _collective_format("params")

    @staticmethod
    def infer(operand: Sharding, axes: AxisMoves, mesh: Mesh) -> Sharding:
        """The axes at the end of one dimension go to the end of another."""
        require(axes, "SH14", "no axes are moved")
        check_axes([move.axes for move in axes], mesh.sizes)
        touched = [d for move in axes for d in (move.source, move.target)]
        for d in touched:
            require(
                d < operand.rank,
                "SH14",
                "there is no dimension {} in an array of rank {}",
                d,
                operand.rank,
            )
            require(touched.count(d) <= 1, "SH14", "dimension {} is in it twice", d)
        require(
            touched[::2] == sorted(touched[::2]),
            "SH14",
            "the dimensions that axes are moved from do not ascend: {}",
            touched[::2],
        )
        dimensions = list(operand.axes)
        for move in axes:
            dimensions[move.source] = _without(dimensions[move.source], move.axes, mesh.sizes)
            dimensions[move.target] = _followed_by(dimensions[move.target], move.axes, mesh.sizes)
        return _with_dimensions(operand, dimensions)


@op_definition
class CollectivePermuteOp(CollectiveOp):
    """Other axes that make as many parts of each dimension."""

    name = "sdy.collective_permute"
    PERMUTES: ClassVar[bool] = True

    assembly_format = _collective_format()

    @staticmethod
    def infer(operand: Sharding, axes: None, mesh: Mesh) -> Sharding:
        """Any other axes that make as many parts of each dimension."""
        return operand


@op_definition
class AllReduceOp(CollectiveOp):
    """The sum of what devices have along the axes."""

    name = "sdy.all_reduce"
    TAKES_UNSAID: ClassVar[bool] = True
    SUMS: ClassVar[bool] = True

    reduction_axes = prop_def(AxisListAttr)
    assembly_format = _collective_format("reduction_axes")

    @staticmethod
    def infer(operand: Sharding, axes: AxisList, mesh: Mesh) -> Sharding:
        """The sum of what devices have along the axes: they all have it then."""
        _check_set(axes, mesh)
        others = (*operand.split_axes, *operand.replicated)
        _check_apart("SH16", axes, "the operand is split or replicated", others, mesh)
        return _reduced(operand, axes, mesh)


@op_definition
class ReduceScatterOp(CollectiveOp):
    """The sum of what devices have along the axes, which split it then."""

    name = "sdy.reduce_scatter"
    TAKES_UNSAID: ClassVar[bool] = True
    SUMS: ClassVar[bool] = True

    reduce_scatter_axes = prop_def(AxisListsAttr)
    assembly_format = _collective_format("reduce_scatter_axes")
    infer = staticmethod(AllSliceOp.infer)


@op_definition
class ShardedToUnreducedOp(CollectiveOp):
    """Each dimension without the axes at its end, along which the parts are terms of a sum."""

    name = "sdy.sharded_to_unreduced"
    SAYS_UNREDUCED: ClassVar[bool] = True

    axes_to_unreduce = prop_def(AxisListsAttr, prop_name="axes")
    assembly_format = _collective_format("axes")

    @staticmethod
    def infer(operand: Sharding, axes: AxisLists, mesh: Mesh) -> Sharding:
        """Dimensions without the axes at their ends: zeros fill up the parts to a sum."""
        return _unreduced(AllGatherOp.infer(operand, axes, mesh), axes_in(axes), mesh)


@op_definition
class ReplicatedToUnreducedOp(CollectiveOp):
    """Along the axes the first device keeps the array, the others have zeros."""

    name = "sdy.replicated_to_unreduced"
    SAYS_UNREDUCED: ClassVar[bool] = True

    axes_to_unreduce = prop_def(AxisListAttr, prop_name="axes")
    assembly_format = _collective_format("axes")

    @staticmethod
    def infer(operand: Sharding, axes: AxisList, mesh: Mesh) -> Sharding:
        """Along the axes the first device keeps the array, the others have zeros."""
        require(axes, "SH17", "no axes become unreduced")
        _check_set(axes, mesh)
        others = (*operand.split_axes, *operand.unreduced)
        _check_apart("SH17", axes, "the operand is split or unreduced", others, mesh)
        return _unreduced(operand, axes, mesh)


COLLECTIVE_OPERATIONS: tuple[type[CollectiveOp], ...] = (
    AllGatherOp,
    AllSliceOp,
    AllToAllOp,
    CollectivePermuteOp,
    AllReduceOp,
    ReduceScatterOp,
    ShardedToUnreducedOp,
    ReplicatedToUnreducedOp,
)


@op_definition
class ReturnOp(IRDLOperation):
    """What a computation gives back."""

    name = "sdy.return"

    values = var_operand_def()

    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($values^ `:` type($values))?"


class ComputationOp(ShardyOp):
    """What its body computes."""

    inputs = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")

    def said(self, number: int) -> Sharding | None:
        """The sharding of a result."""
        return _entry(self.properties.get("out_shardings"), number)

    def said_inside(self, number: int) -> Sharding | None:
        """The sharding of a value that the body takes."""
        return _entry(self.properties.get("in_shardings"), number)


@op_definition
class NamedComputationOp(ComputationOp):
    """A computation under a name."""

    name = "sdy.named_computation"

    computation = prop_def(StringAttr, prop_name="name")
    in_shardings = opt_prop_def(ShardingPerValueAttr)
    out_shardings = opt_prop_def(ShardingPerValueAttr)

    assembly_format = (
        "`<` $name `>` `` `(` $inputs `)` (`in_shardings` `` `=` `` custom<Bare>("
        "$in_shardings)^)? (`out_shardings` `` `=` `` custom<Bare>($out_shardings)^)? "
        "custom<RegionWithArguments>($body) attr-dict `:` functional-type($inputs, $outputs)"
    )

    def check(self, meshes: Meshes) -> None:
        """Its body takes the operands, and gives the results; the shardings are theirs."""
        inside, returned = _border_of(self)
        check(
            inside == list(self.operand_types), "its body takes other types than its operands have"
        )
        check(returned == list(self.result_types), "its body returns other types than declared")
        for name, found, types in (
            ("in_shardings", self.in_shardings, self.operand_types),
            ("out_shardings", self.out_shardings, self.result_types),
        ):
            if found is not None:
                _check_shardings(name, found.data, types, meshes)


@op_definition
class ManualComputationOp(ComputationOp):
    """What its body computes of the parts of a device along manual axes: JAX's `shard_map`."""

    name = "sdy.manual_computation"

    in_shardings = prop_def(ShardingPerValueAttr)
    out_shardings = prop_def(ShardingPerValueAttr)
    manual_axes = prop_def(ManualAxesAttr)

    assembly_format = (
        "`(` $inputs `)` `in_shardings` `` `=` `` custom<Bare>($in_shardings) "
        "`out_shardings` `` `=` `` custom<Bare>($out_shardings) "
        "`manual_axes` `` `=` `` custom<Bare>($manual_axes) custom<RegionWithArguments>($body) "
        "attr-dict `:` functional-type($inputs, $outputs)"
    )

    def said_inside(self, number: int) -> Sharding | None:
        """The sharding of a part that the body takes: over the axes that are not manual."""
        whole = super().said_inside(number)
        if whole is None:
            return None
        axes = [[a for a in each if a.name not in self.manual_axes.data] for each in whole.axes]
        return Sharding.of_axes(whole.mesh, axes)

    def check(self, meshes: Meshes) -> None:
        """Its body computes on the parts that its shardings make along the manual axes."""
        taken, given = self.in_shardings.data, self.out_shardings.data
        _check_shardings("in_shardings", taken, self.operand_types, meshes)
        _check_shardings("out_shardings", given, self.result_types, meshes)
        self._check_mesh({sharding.mesh_in(meshes) for sharding in (*taken, *given)})
        named = self.manual_axis_inside()
        if named is not None:
            raise VerifyException(f"{named[0].name}: {named[1]}")
        inside, returned = _border_of(self)
        for wholes, parts, shardings in (
            (self.operand_types, inside, taken),
            (self.result_types, returned, given),
        ):
            for whole, part, sharding in zip(wholes, parts, shardings, strict=True):
                mesh = sharding.mesh_in(meshes)
                assert mesh is not None
                self._check_part(whole, sharding, part, mesh)

    def _check_mesh(self, meshes: set[Mesh | None]) -> None:
        """All shardings are over one mesh, of which the manual axes are axes."""
        require(
            len(meshes) <= 1,
            "SH21",
            "its shardings are over several meshes, {}",
            " and ".join(sorted(f"<{mesh}>" for mesh in meshes)),
        )
        for mesh in filter(None, meshes):
            for name in self.manual_axes.data:
                check(name in mesh.sizes, "manual_axes: (SH3) unknown axis {!r}", name)

    def manual_axis_inside(self) -> tuple[Operation, str] | None:
        """An operation in the body that names a manual axis, and the message for it."""
        for inner in self.body.walk():
            for name in _axes_named_by(inner):
                if name in self.manual_axes.data:
                    return inner, f"(SH10) axis {name!r} is manual in {self.name} around it"
        return None

    def _check_part(
        self, whole: Attribute, sharding: Sharding, part: Attribute, mesh: Mesh
    ) -> None:
        """The sizes of a part follow from those of the whole; a token has no parts."""
        if not isinstance(whole, TensorType):
            check(
                part == whole and whole.name.endswith(".token"),
                "takes and returns arrays and tokens, found {}",
                whole,
            )
            return
        check(not mesh.is_maximal, "sharding <{}>: one device has no parts", sharding)
        array = cast("TensorType[Any]", whole)
        sizes = list(array.get_shape())
        for d, axes in enumerate(sharding.axes):
            manual = [axis.name in self.manual_axes.data for axis in axes]
            require(
                manual == sorted(manual, reverse=True),
                "SH21",
                "sharding <{}>: dimension {} is split over free axes before manual ones",
                sharding,
                d,
            )
            count = mesh.size(axes[: sum(manual)])
            if sizes[d] == DYNAMIC_INDEX:
                continue
            require(
                not sizes[d] % count,
                "SH20",
                "size {} of dimension {} for {} devices",
                sizes[d],
                d,
                count,
            )
            sizes[d] //= count
        expected = TensorType(array.element_type, sizes)
        require(part == expected, "SH20", "a part of {} is {}, expected {}", array, part, expected)


def _border_of(op: ComputationOp) -> list[list[Attribute]]:
    """The types that the body of a computation takes, and those that it returns."""
    block = op.body.first_block
    last = None if block is None else block.last_op
    if block is None or len(block.args) != len(op.operands):
        raise VerifyException(f"(SH20) its body takes other than {len(op.operands)} values")
    if not isinstance(last, ReturnOp):
        raise VerifyException("its region is not one block that ends with sdy.return")
    require(
        len(last.operands) == len(op.results),
        "SH20",
        "its body returns {} values for {} results",
        len(last.operands),
        len(op.results),
    )
    return [[value.type for value in block.args], [value.type for value in last.operands]]


SHARDY = Dialect(
    "sdy",
    [
        MeshOp,
        ConstantOp,
        ShardingConstraintOp,
        ReshardOp,
        DataFlowEdgeOp,
        FuncDataFlowEdgeOp,
        PropagationBarrierOp,
        ShardingGroupOp,
        *COLLECTIVE_OPERATIONS,
        NamedComputationOp,
        ManualComputationOp,
        ReturnOp,
    ],
    list(ATTRIBUTES),
)
