"""Reductions, over windows too, and `map`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, TensorType, i1, i64
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    SameVariadicOperandSize,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import XlaOp
from xla_dialect.ops import reduction as xla
from xla_dialect.shapes.window import Window, WindowAttr
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.attributes import Inexpressible
from xla_dialect.stablehlo.op import StableHloOp, applied_to_two, integers_of, just_as, rows_of
from xla_dialect.stablehlo.ops import elementwise
from xla_dialect.stablehlo.ops.control_flow import ReturnOp
from xla_dialect.types import BY_TYPE, Array, ElementClass, array_like, as_array
from xla_dialect.violations import check
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.directives import (
    parse_argument,
    parse_integers,
    print_integers,
    print_new_line,
)
from xla_dialect.xdsl.text import operation_named


class WindowedOp(StableHloOp):
    """An operation with a window, said in lists."""

    LISTS: ClassVar[Mapping[str, str]]
    """From the arguments of `Window.of` to the properties that are lists of integers or flags."""

    window_strides = opt_prop_def(DenseArrayBase.constr(i64))

    def window(self, sizes: Sequence[int], padding: Attribute | None) -> WindowAttr:
        """The window of the lists; raises VerifyException."""
        lists: dict[str, Any] = {
            argument: tuple(map(_ENTRIES.get(argument, int), integers_of(value) or ()))
            for argument, name in self.LISTS.items()
            if (value := self.properties.get(name)) is not None
        }
        try:
            return WindowAttr(Window.of(sizes, padding=pairs_of("padding", padding), **lists))
        except SpellingError as error:
            raise VerifyException(str(error)) from None

    @classmethod
    def lists_of(cls, window: Window) -> dict[str, Attribute]:
        """The lists of a window, and its padding."""
        pads = [(each.padding_low, each.padding_high) for each in window.dimensions]
        found: dict[str, Attribute] = {"padding": matrix(pads)}
        for argument, name in cls.LISTS.items():
            entries = [int(getattr(each, argument)) for each in window.dimensions]
            type_ = i1 if _ENTRIES.get(argument) is bool else i64
            found[name] = DenseArrayBase.from_list(type_, entries)
        return found


_ENTRIES: Mapping[str, type[int]] = {"reversal": bool}
"""By list, what its entries are if not integers."""


def pairs_of(name: str, value: Attribute | None) -> list[tuple[int, int]]:
    """The rows of a matrix of two columns; raises VerifyException for anything else."""
    rows = () if value is None else rows_of(name, value)
    check(
        all(len(row) == 2 for row in rows),
        "{} is {}, not pairs",
        name,
        [list(row) for row in rows],
    )
    return [(low, high) for low, high in rows]


def matrix(rows: Sequence[Sequence[int]], width: int = 2) -> Attribute:
    """A matrix of rows of one width, `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`."""
    numbers = [number for row in rows for number in row]
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, (len(rows), width)), numbers)


# Computations in a wider type than the operands have. XLA's take the element type of the operands.

_INTEGERS = ElementClass.INTEGER | ElementClass.PRED


def is_promotable(before: Attribute, after: Attribute) -> bool:
    """
    Whether a computation of one element type takes operands of another.

    It takes any float for any float, and an integer for one that is as wide or wider.
    """
    source, target = BY_TYPE.get(before), BY_TYPE.get(after)
    if source is None or target is None:
        return False
    if source.element_class & target.element_class & ElementClass.FLOAT:
        return True
    both = source.element_class & _INTEGERS and target.element_class & _INTEGERS
    both = both or source.element_class == target.element_class
    return bool(both) and _width(source.bits, before) <= _width(target.bits, after)


def _width(bits: int, element_type: Attribute) -> int:
    return 1 if BY_TYPE[element_type].element_class == ElementClass.PRED else bits


def promoted_type(type_: Attribute, accumulator: Attribute) -> Attribute:
    """The type of an array of the element type of its accumulator, where it is promotable to it."""
    found, wanted = as_array(type_), as_array(accumulator)
    if found is None or wanted is None or found.element_type == wanted.element_type:
        return type_
    is_wider = is_promotable(found.element_type, wanted.element_type)
    return array_like(found, wanted.element_type) if is_wider else type_


def accumulators_of(region: Region, count: int) -> Sequence[Attribute]:
    """The types of the first parameters of a computation, if it has as many."""
    block = region.first_block
    types = [] if block is None else [argument.type for argument in block.args]
    return types[:count] if len(types) >= count else ()


class AccumulatingOp(StableHloOp):
    """An operation with a computation that accumulates; it is the last region."""

    traits = traits_def(RecursiveMemoryEffect())

    def accumulators(self, region: Region) -> Sequence[Attribute]:
        """The type of the accumulator of each operand in a computation; none if it is malformed."""
        count = len(self.operands) // 2
        return [*accumulators_of(region, count)] * 2

    def xla_operand_types(
        self, types: Sequence[Attribute], regions: Sequence[Region]
    ) -> Sequence[Attribute]:
        """Those of the accumulators."""
        accumulators = self.accumulators(regions[-1])
        return list(map(promoted_type, types, accumulators)) if accumulators else types


@just_as(xla.MapOp)
class MapOp(StableHloOp):
    """Applies a computation to the elements in one place."""

    dimensions = prop_def(DenseArrayBase.constr(i64))
    computation = region_def()
    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def properties_of(cls, op: XlaOp) -> dict[str, Attribute]:
        """All dimensions, which have to be said."""
        rank = len(cast(Array, op.results[0].type).get_shape())
        return {"dimensions": DenseArrayBase.from_list(i64, range(rank))}


_APPLIED = (
    elementwise.AddOp,
    elementwise.AndOp,
    elementwise.MaximumOp,
    elementwise.MinimumOp,
    elementwise.MultiplyOp,
    elementwise.OrOp,
    elementwise.XorOp,
)
"""The operations that a reduction names where its computation is nothing else."""


@just_as(xla.ReduceOp)
class ReduceOp(AccumulatingOp):
    """
    Folds `dimensions` of all inputs at once. It is written as one of

        stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : types
        stablehlo.reduce(%0 init: %1), (%2 init: %3) across dimensions = [1] : types
          reducer(%a: t, %b: t) (%c: u, %d: u) { ... }
    """

    inputs = var_operand_def()
    init_values = var_operand_def()
    dimensions = prop_def(DenseArrayBase.constr(i64))
    body = region_def()
    irdl_options = (SameVariadicOperandSize(),)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses either form."""
        inputs: list[UnresolvedOperand] = []
        inits: list[UnresolvedOperand] = []

        def parse_pair() -> None:
            with parser.in_parens():
                inputs.append(parser.parse_unresolved_operand())
                parser.parse_keyword("init")
                parser.parse_punctuation(":")
                inits.append(parser.parse_unresolved_operand())

        parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_pair)
        applied = None
        position = parser.pos
        if parser.parse_optional_keyword("applies") is not None:
            position = parser.pos
            applied = parser.parse_identifier(": the name of an operation")
        parser.parse_keyword("across")
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        dimensions = parse_integers(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types_position = parser.pos
        function_type = parser.parse_function_type()
        operands = parser.resolve_operands(
            [*inputs, *inits], function_type.inputs.data, types_position
        )
        if applied is None:
            region = _parse_reducer(parser, len(inputs))
        else:
            found = operation_named(parser, applied)
            if (
                len(inputs) != 1
                or found is None
                or not issubclass(found, elementwise.BinaryOp)
                or found.get_irdl_definition().properties
            ):
                parser.raise_error(f"{applied} cannot be applied by {cls.name}", position)
            init = operands[1].type
            element_type = cast(Array, init).element_type if isinstance(init, TensorType) else init
            region = applied_to_two(found, element_type, ReturnOp)
        return create(
            cls,
            operands=operands,
            result_types=function_type.outputs.data,
            properties={"dimensions": dimensions},
            attributes=attributes,
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        """Prints the form that is shorter."""
        pairs = list(zip(self.inputs, self.init_values, strict=True))
        for i, (value, init) in enumerate(pairs):
            printer.print_string(", (" if i else "(")
            printer.print_ssa_value(value)
            printer.print_string(" init: ")
            printer.print_ssa_value(init)
            printer.print_string(")")
        applied = self._applied()
        if applied is not None:
            printer.print_string(f" applies {applied}")
        printer.print_string(" across dimensions = ")
        print_integers(printer, self.dimensions)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)
        if applied is None:
            print_new_line(printer)
            _print_reducer(printer, self.body, len(pairs))

    def _applied(self) -> str | None:
        """The only operation of the computation on one array, if it has just that."""
        block = self.body.block
        first, last = block.first_op, block.last_op
        if (
            len(self.inputs) != 1
            or first is None
            or last is None
            or first.next_op is not last
            or type(first) not in _APPLIED
            or first.attributes
            or list(first.operands) != list(block.args)
            or list(last.operands) != list(first.results)
        ):
            return None
        return first.name


def _parse_reducer(parser: Parser, count: int) -> Region:
    """Parses `reducer(%acc: t, %value: t) ... { ... }`: one pair for each of `count` inputs."""
    parser.parse_keyword("reducer")
    accumulators: list[Parser.Argument] = []
    values: list[Parser.Argument] = []
    for _ in range(count):
        with parser.in_parens():
            accumulators.append(parse_argument(parser))
            parser.parse_punctuation(",")
            values.append(parse_argument(parser))
    return parser.parse_region([*accumulators, *values])


def _print_reducer(printer: Printer, region: Region, count: int) -> None:
    """Prints what `_parse_reducer` parses."""
    arguments = region.block.args

    def print_pair(number: int) -> None:
        pair = (arguments[number], arguments[count + number])
        with printer.in_parens():
            printer.print_list(pair, printer.print_block_argument)

    printer.print_string(" reducer")
    printer.print_list(range(count), print_pair, " ")
    printer.print_string(" ")
    printer.print_region(region, print_entry_block_args=False)


class WindowReductionOp(AccumulatingOp, WindowedOp):
    """A reduction with a window."""

    window_dimensions = prop_def(DenseArrayBase.constr(i64))
    padding = opt_prop_def(DenseIntOrFPElementsAttr)

    def xla_properties(self, operands: Sequence[Attribute] = ()) -> dict[str, Attribute]:
        """The window of the lists."""
        return {"window": self.window(integers_of(self.window_dimensions) or (), self.padding)}

    @classmethod
    def properties_of(cls, op: XlaOp) -> dict[str, Attribute]:
        """The lists of the window."""
        assert isinstance(op, xla.ReduceWindowOp | xla.SelectAndScatterOp)
        window = op.window.data
        if any(each.reversal for each in window.dimensions):
            raise Inexpressible(f"StableHLO has no reversal for the window {window}")
        sizes = DenseArrayBase.from_list(i64, [each.size for each in window.dimensions])
        return {**cls.lists_of(window), "window_dimensions": sizes}


@just_as(xla.ReduceWindowOp)
class ReduceWindowOp(WindowReductionOp):
    """Folds the elements of each placement of a window."""

    LISTS: ClassVar = {
        "stride": "window_strides",
        "base_dilation": "base_dilations",
        "window_dilation": "window_dilations",
    }
    base_dilations = opt_prop_def(DenseArrayBase.constr(i64))
    window_dilations = opt_prop_def(DenseArrayBase.constr(i64))
    body = region_def()
    irdl_options = (SameVariadicOperandSize(),)


@just_as(xla.SelectAndScatterOp)
class SelectAndScatterOp(WindowReductionOp):
    """Scatters `source` to the selected element of each placement of a window."""

    LISTS: ClassVar = {"stride": "window_strides"}

    def accumulators(self, region: Region) -> Sequence[Attribute]:
        """All operands have the type of the accumulator of `scatter`."""
        return [*accumulators_of(region, 1)] * 3

    @classmethod
    def properties_of(cls, op: XlaOp) -> dict[str, Attribute]:
        """The lists of the window, which has no dilations."""
        assert isinstance(op, xla.SelectAndScatterOp)
        window = op.window.data
        if any(d.base_dilation != 1 or d.window_dilation != 1 for d in window.dimensions):
            raise Inexpressible(f"StableHLO has no dilation for the window {window}")
        return super().properties_of(op)
