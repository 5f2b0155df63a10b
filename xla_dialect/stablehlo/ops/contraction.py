"""Contractions: sums of products."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatTF32Type,
    IntegerAttr,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import contraction as xla
from xla_dialect.shapes.size_arithmetic import UNKNOWN, compatible, compatible_sizes, is_unknown
from xla_dialect.shapes.window import ConvolutionLabelsAttr, WindowAttr
from xla_dialect.stablehlo.attributes import (
    ConvolutionNumbers,
    DimensionNumbers,
    DotAlgorithm,
    DotNumbers,
    Inexpressible,
    Precision,
    PrecisionAttr,
    RaggedDotNumbers,
    RaggedPrecisionAttr,
    Word,
    integers,
)
from xla_dialect.stablehlo.op import Codec, PureOp, StableHloOp, integers_of, just_as
from xla_dialect.stablehlo.ops.dynamic_shapes import (
    ShapedOp,
    constant_integers,
    require_array,
)
from xla_dialect.stablehlo.ops.reduction import WindowedOp, matrix, pairs_of
from xla_dialect.types import (
    BY_NAME,
    Array,
    ElementClass,
    array,
    as_array,
    element_class,
    sizes_of,
    spell,
    spell_all,
)
from xla_dialect.violations import check
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.directives import (
    parse_i64,
    parse_integer_pair,
    parse_integers,
    print_integer_pair,
)

KNOWN_ALGORITHMS = {
    "dot_any_f8_any_f8_f32": (1,),
    "dot_f16_f16_f16": (1,),
    "dot_f16_f16_f32": (1,),
    "dot_bf16_bf16_bf16": (1,),
    "dot_bf16_bf16_f32": (1, 3, 6, 9),
    "dot_tf32_tf32_f32": (1, 3),
    "dot_f32_f32_f32": (1,),
    "dot_f64_f64_f64": (1,),
}
"""The algorithms of dots that some hardware has, and of how many products each may consist."""


def algorithm_name(algorithm: DotAlgorithm) -> str:
    """The name that HLO has for an algorithm, `dot_bf16_bf16_f32_x3`; raises VerifyException."""
    fields = algorithm.values()
    counts = {name: decode(fields[name]) for name in _COUNTS}
    for name, count in counts.items():
        check(count >= 1, "{} of the algorithm is {}, not positive", name, count)
    *components, products = counts.values()
    types = [str(fields[name]) for name in _TYPES]
    if all(type_.startswith("f8") for type_ in types[:2]):
        types[:2] = ["any_f8", "any_f8"]
    is_fast = decode(algorithm.allow_imprecise_accumulation)
    name = f"dot_{'_'.join(types)}"
    check(
        products in KNOWN_ALGORITHMS.get(name, ()) and components == [1, 1],
        "no hardware has the algorithm {}",
        algorithm,
    )
    check(
        not is_fast or types[0] == "any_f8", "no hardware has an imprecise algorithm {}", algorithm
    )
    return f"{name}{f'_x{products}' if products > 1 else ''}{'_fast_accum' if is_fast else ''}"


_TYPES = ("lhs_precision_type", "rhs_precision_type", "accumulation_type")
_COUNTS = ("lhs_component_count", "rhs_component_count", "num_primitive_operations")


def algorithm_of(name: str, operands: Sequence[Attribute]) -> DotAlgorithm:
    """The algorithm that HLO has a name for, of operands of some types; raises Inexpressible."""
    match = _ALGORITHM.fullmatch(name)
    if match is None:
        raise Inexpressible(f"StableHLO has no algorithm {name}")
    own = [cast(Array, type_).element_type for type_ in operands]
    f8 = [type_ if str(type_).startswith("f8") else BY_NAME["f8e5m2"].type for type_ in own]
    any_f8 = {"lhs": f8[0], "rhs": f8[1]}
    types = [
        any_f8[side] if match.group(side) == "any_f8" else _ALGORITHM_TYPES.get(match.group(side))
        for side in ("lhs", "rhs", "accumulation")
    ]
    if None in types:
        raise Inexpressible(f"StableHLO has no algorithm {name}")
    counts = [IntegerAttr(int(count), i64) for count in (1, 1, match.group("count") or 1)]
    fast = BoolAttr.from_bool(match.group("fast") is not None)
    return DotAlgorithm.new([*cast("list[Attribute]", types), *counts, fast])


_ALGORITHM = re.compile(
    r"dot_(?P<lhs>any_f8|[a-z]+\d+)_(?P<rhs>any_f8|[a-z]+\d+)_(?P<accumulation>[a-z]+\d+)"
    r"(?:_x(?P<count>\d+))?(?P<fast>_fast_accum)?"
)
_ALGORITHM_TYPES: Mapping[str, Attribute] = {
    "tf32": FloatTF32Type(),
    **{name: BY_NAME[name].type for name in ("bf16", "f16", "f32", "f64")},
}


@irdl_custom_directive
class ContractedDimensions(CustomDirective):
    """`batching_dims = [0] x [0], contracting_dims = [2] x [1]`; the first need not be there."""

    numbers: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the pairs of lists."""

        def parse_pair() -> Sequence[Attribute]:
            parser.parse_punctuation("=")
            return parse_integer_pair(parser)

        batching: Sequence[Attribute] = (integers(()), integers(()))
        if parser.parse_optional_keyword("batching_dims") is not None:
            batching = parse_pair()
            parser.parse_punctuation(",")
        parser.parse_keyword("contracting_dims")
        self.numbers.set(state, DotNumbers.new([*batching, *parse_pair()]))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the pairs of lists."""
        state.print_whitespace(printer)
        numbers = cast(DimensionNumbers, self.numbers.get(op))
        *batching, lhs, rhs = cast("Sequence[DenseArrayBase[Any]]", numbers.parameters)
        if any(map(integers_of, batching)):
            printer.print_string("batching_dims = ")
            print_integer_pair(printer, batching[0], batching[1])
            printer.print_string(", ")
        printer.print_string("contracting_dims = ")
        print_integer_pair(printer, lhs, rhs)


@irdl_custom_directive
class PrecisionAndAlgorithm(CustomDirective):
    """`, precision = [HIGH, DEFAULT], algorithm = <...>`, each of them if it is there."""

    precision: AttributeVariable
    algorithm: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses what is there."""
        while parser.parse_optional_punctuation(",") is not None:
            if parser.parse_optional_keyword("algorithm") is not None:
                parser.parse_punctuation("=")
                self.algorithm.set(state, DotAlgorithm.new(DotAlgorithm.parse_parameters(parser)))
                return
            parse_precision(parser, self.precision, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints what is there."""
        print_precision(printer, self.precision.get(op))
        algorithm = cast("DotAlgorithm | None", self.algorithm.get(op))
        if algorithm is not None:
            printer.print_string(", algorithm = ")
            algorithm.print_parameters(printer)


@irdl_custom_directive
class OptionalPrecision(CustomDirective):
    """`, precision = [HIGH, DEFAULT]`, or nothing."""

    precision: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses a precision for each operand, if it is there."""
        if parser.parse_optional_punctuation(",") is not None:
            parse_precision(parser, self.precision, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints a precision for each operand, if it is there."""
        print_precision(printer, self.precision.get(op))


def parse_precision(parser: Parser, variable: AttributeVariable, state: ParsingState) -> None:
    """Parses `precision = [HIGH, DEFAULT]`."""
    parser.parse_keyword("precision")
    parser.parse_punctuation("=")
    words = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: PrecisionAttr(PrecisionAttr.parse_parameter(parser))
    )
    variable.set(state, ArrayAttr(words))


def print_precision(printer: Printer, config: Attribute | None) -> None:
    """Prints `, precision = [HIGH, DEFAULT]`, if it is there."""
    if config is not None:
        words = (word.data.name for word in cast("ArrayAttr[Word]", config))
        printer.print_string(f", precision = [{', '.join(words)}]")


_UNSET = "dot_unset"


def _algorithm_name(op: XlaOp) -> str:
    """The name of the algorithm that is kept with an operation of `xla`."""
    kept = op.attributes.get(xla.ALGORITHM)
    return kept.data if isinstance(kept, StringAttr) else _UNSET


def _kept_algorithm(op: StableHloOp, algorithm: DotAlgorithm | None) -> Attribute | None:
    return None if algorithm is None else StringAttr(algorithm_name(algorithm))


def _of_kept_algorithm(op: XlaOp, kept: Attribute | None) -> Attribute | None:
    name = _algorithm_name(op)
    return None if name == _UNSET else algorithm_of(name, op.operand_types)


_ALGORITHM_CODEC = Codec(xla.ALGORITHM, _kept_algorithm, _of_kept_algorithm, is_kept=True)


def _kept_precision(op: StableHloOp, config: ArrayAttr[Word] | None) -> Attribute | None:
    """What HLO says of a precision that is not the default one."""
    words = [] if config is None else [word.data for word in config]
    check(len(words) <= 2, "precision_config has {} entries for two operands", len(words))
    is_default = set(words) <= {Precision.DEFAULT}
    has_algorithm = op.properties.get("algorithm") is not None
    found = "precision_config is not DEFAULT, though there is an algorithm"
    check(is_default or not has_algorithm, found)
    return None if is_default else StringAttr(f"{{{','.join(words)}}}")


def precision(word_class: type[Word]) -> Codec:
    """The precision, as words of a class; with an algorithm it says nothing."""

    def of_kept(op: XlaOp, kept: Attribute | None) -> Attribute | None:
        if not isinstance(kept, StringAttr) or _algorithm_name(op) != _UNSET:
            return None
        words = list(map(str.strip, kept.data.strip("{}").split(",")))
        for word in words:
            if word not in list(Precision):
                raise Inexpressible(f"StableHLO has no precision {word.upper()}")
        return ArrayAttr([word_class(Precision(word)) for word in words])

    return Codec(xla.PRECISION, _kept_precision, of_kept, is_kept=True)


class ContractionOp(PureOp):
    """A contraction, whose precision may be asked for."""

    CODECS: ClassVar = {"precision_config": precision(PrecisionAttr)}

    precision_config = opt_prop_def(ArrayAttr.constr(PrecisionAttr))


@just_as(xla.DotOp)
class DotOp(ContractionOp):
    """
    The last dimension of `lhs` against the first one of `rhs`, of ranks 1 or 2.

    What `xla.dot` becomes is `dot_general`, which stands behind.
    """

    assembly_format = (
        "$lhs `,` $rhs custom<OptionalPrecision>($precision_config) attr-dict `:` "
        "functional-type(operands, results)"
    )

    def xla_properties(self, operands: Sequence[Attribute] = ()) -> dict[str, Attribute]:
        """The dimensions that follow from the ranks."""
        ranks = [len(_sizes(type_)) for type_ in operands]
        check(
            all(1 <= rank <= 2 for rank in ranks),
            "operands have rank {} and {}, expected 1 or 2",
            ranks[0],
            ranks[1],
        )
        contracted = {
            "lhs_contracting_dims": integers((ranks[0] - 1,)),
            "rhs_contracting_dims": integers((0,)),
        }
        return super().xla_properties(operands) | contracted


@just_as(xla.DotOp)
class DotGeneralOp(ContractionOp):
    """Sums of products over the contracting dimensions, for every batch index."""

    name = "stablehlo.dot_general"
    NAMES: ClassVar = {
        "lhs_batching_dimensions": "lhs_batch_dims",
        "lhs_contracting_dimensions": "lhs_contracting_dims",
        "rhs_batching_dimensions": "rhs_batch_dims",
        "rhs_contracting_dimensions": "rhs_contracting_dims",
    }
    CODECS: ClassVar = {**ContractionOp.CODECS, "algorithm": _ALGORITHM_CODEC}
    dot_dimension_numbers = prop_def(DotNumbers)
    algorithm = opt_prop_def(DotAlgorithm)
    assembly_format = (
        "$lhs `,` $rhs `,` custom<ContractedDimensions>($dot_dimension_numbers) "
        "custom<PrecisionAndAlgorithm>($precision_config, $algorithm) attr-dict `:` "
        "functional-type(operands, results)"
    )


@just_as(xla.RaggedDotOp)
class RaggedDotOp(ContractionOp):
    """A contraction of groups of different sizes."""

    name = "chlo.ragged_dot"
    NAMES: ClassVar = {
        **DotGeneralOp.NAMES,
        "lhs_ragged_dimensions": "lhs_ragged_dims",
        "rhs_group_dimensions": "rhs_group_dims",
    }
    ragged_dot_dimension_numbers = prop_def(RaggedDotNumbers)
    precision_config = opt_prop_def(ArrayAttr.constr(RaggedPrecisionAttr))
    CODECS: ClassVar = {"precision_config": precision(RaggedPrecisionAttr)}


# Convolutions


@irdl_custom_directive
class DimensionLabels(CustomDirective):
    """What each dimension is: `[b, f, 0]x[o, i, 0]->[b, f, 0]`."""

    numbers: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the labels."""
        self.numbers.set(state, ConvolutionNumbers(ConvolutionNumbers.parse_labels(parser)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the labels."""
        state.print_whitespace(printer)
        labels = cast(ConvolutionNumbers, self.numbers.get(op)).data
        printer.print_string(ConvolutionNumbers.spelled(labels))


@irdl_custom_directive
class WindowLists(CustomDirective):
    """`{stride = [2], pad = [[1, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]}`."""

    stride: AttributeVariable
    pad: AttributeVariable
    lhs_dilate: AttributeVariable
    rhs_dilate: AttributeVariable
    reverse: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the lists that are there, in any order."""
        variables = self._variables()

        def parse_list() -> None:
            position = parser.pos
            word = parser.parse_identifier()
            variable = variables.pop(word, None)
            if variable is None:
                parser.raise_error(f"{word!r} is unknown here, or repeated", position)
            parser.parse_punctuation("=")
            variable.set(state, _parse_window_list(parser, word))

        parser.parse_comma_separated_list(parser.Delimiter.BRACES, parse_list)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the lists that are there."""
        state.print_whitespace(printer)
        texts = [
            f"{word} = [{', '.join(_window_entries(word, value))}]"
            for word, variable in self._variables().items()
            if (value := variable.get(op)) is not None
        ]
        printer.print_string(f"{{{', '.join(texts)}}}")

    def _variables(self) -> dict[str, AttributeVariable]:
        return {
            "stride": self.stride,
            "pad": self.pad,
            "lhs_dilate": self.lhs_dilate,
            "rhs_dilate": self.rhs_dilate,
            "reverse": self.reverse,
        }


def _parse_window_list(parser: Parser, word: str) -> Attribute:
    def parse_pair() -> list[int]:
        position = parser.pos
        pair = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_i64(parser))
        if len(pair) != 2:
            parser.raise_error("expected a pair [low, high]", position)
        return pair

    if word == "pad":
        return matrix(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_pair))
    if word == "reverse":
        flags = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        return DenseArrayBase.from_list(i1, [int(flag != 0) for flag in flags])
    return parse_integers(parser)


def _window_entries(word: str, value: Attribute) -> list[str]:
    numbers = integers_of(value) or ()
    if word == "pad":
        return [f"[{low}, {high}]" for low, high in pairs_of(word, value)]
    return [str(bool(number)).lower() if word == "reverse" else str(number) for number in numbers]


class ConvolvingOp(ContractionOp, WindowedOp):
    """A convolution, whose window has the sizes of the kernel."""

    LISTS: ClassVar = {
        "stride": "window_strides",
        "base_dilation": "lhs_dilation",
        "window_dilation": "rhs_dilation",
        "reversal": "window_reversal",
    }
    lhs_dilation = opt_prop_def(DenseArrayBase.constr(i64))
    rhs_dilation = opt_prop_def(DenseArrayBase.constr(i64))
    window_reversal = opt_prop_def(DenseArrayBase.constr(i1))
    dimension_numbers = prop_def(ConvolutionNumbers)
    feature_group_count = prop_def(IntegerAttr.constr(i64))
    batch_group_count = prop_def(IntegerAttr.constr(i64))

    def with_window(self, kernel: Sequence[int], padding: Attribute | None) -> dict[str, Attribute]:
        """The properties in `xla` for the sizes of a kernel; raises VerifyException."""
        labels = self.dimension_numbers.data
        check(
            len(kernel) == len(labels.rhs) and not labels.faults(),
            "dimension_numbers {} for a kernel of rank {}",
            self.dimension_numbers,
            len(kernel),
        )
        return {
            "window": self.window([kernel[d] for d in labels.rhs_order()[2:]], padding),
            "dim_labels": ConvolutionLabelsAttr(labels),
            "feature_group_count": self.feature_group_count,
            "batch_group_count": self.batch_group_count,
        }

    def xla_operand_types(
        self, types: Sequence[Attribute], regions: Sequence[Region]
    ) -> Sequence[Attribute]:
        """The same types; raises VerifyException for different element types, which HLO takes."""
        lhs, rhs = map(as_array, types[:2])
        if lhs is not None and rhs is not None and lhs.element_type != rhs.element_type:
            raise VerifyException(f"lhs and rhs are {spell(lhs)} and {spell(rhs)}")
        return types


@just_as(xla.ConvolutionOp)
class ConvolutionOp(ConvolvingOp):
    """Sums of products of a kernel and what is below it, for each of its places."""

    lhs = operand_def()
    rhs = operand_def()
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    assembly_format = (
        "`(` operands `)` `dim_numbers` `=` custom<DimensionLabels>($dimension_numbers) `,` "
        "`window` `=` custom<WindowLists>($window_strides, $padding, $lhs_dilation, "
        "$rhs_dilation, $window_reversal) attr-dict `:` functional-type(operands, results)"
    )

    def xla_properties(self, operands: Sequence[Attribute] = ()) -> dict[str, Attribute]:
        """The window of the lists, labels, and the numbers of groups."""
        return self.with_window(_sizes(operands[1]), self.padding)

    @classmethod
    def properties_of(cls, op: XlaOp) -> dict[str, Attribute]:
        """The lists of the window, and what else there is."""
        window, labels = cast(WindowAttr, op.properties["window"]), op.properties["dim_labels"]
        numbers = ConvolutionNumbers(cast(ConvolutionLabelsAttr, labels).data)
        lists = {**cls.lists_of(window.data), "dimension_numbers": numbers}
        return super().properties_of(op) | lists


@op_definition
class DynamicConvOp(ShapedOp, ConvolvingOp):
    """As `convolution`, with a padding that an operand says."""

    name = "stablehlo.dynamic_conv"
    STATIC: ClassVar = ConvolutionOp
    SHAPES: ClassVar = ("padding",)
    lhs = operand_def()
    rhs = operand_def()
    padding = operand_def()

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """As a convolution; without a known padding, spatial sizes of the result may be any."""
        arrays = [require_array(type_, f"operand {i}") for i, type_ in enumerate(operands)]
        lhs, _, given = map(sizes_of, arrays)
        spatial = len(lhs) - 2
        integer = element_class(arrays[2].element_type) & ElementClass.INTEGER
        check(
            given == (spatial, 2) and not any(map(is_unknown, given)) and integer,
            "the padding is {}, not {} pairs",
            spell(operands[2]),
            spatial,
        )
        padding, result = constant_integers(self.padding), as_array(declared[0])
        if padding is None and result is not None:
            order = self.dimension_numbers.data.result_order()[2:]
            sizes = [UNKNOWN if d in order else size for d, size in enumerate(sizes_of(result))]
            declared = [array(result.element_type, sizes)]
        self.static([padding or (0,) * (2 * spatial)]).verify_types(operands[:2], declared)

    def static(
        self,
        shapes: Sequence[Sequence[int]],
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
    ) -> StableHloOp:
        """The convolution for pairs of numbers, one after the other."""
        (numbers,), found = shapes, super().static((), operands, result_types)
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        found.properties["padding"] = matrix(pairs)
        return found


def _sizes(type_: Attribute) -> Sequence[int]:
    found = as_array(type_)
    return () if found is None else sizes_of(found)


_END = "`config` `=` $einsum_config attr-dict `:` functional-type(operands, results)"


class EinsumBase(PureOp):
    """A sum over letters, `ij,jk->ik`, one for each dimension; subclasses have the operands."""

    einsum_config = prop_def(StringAttr)

    def letters(self, operands: Sequence[Attribute]) -> tuple[list[str], str]:
        """
        A letter for each dimension of operands of these types, and of the result.

        Raises VerifyException.
        """
        config = self.einsum_config.data.replace(" ", "")
        left, arrow, result = config.partition("->")
        texts = left.split(",")
        check(
            arrow and len(texts) == len(operands),
            "einsum_config {!r} is not made of {} operands, '->' and a result",
            config,
            len(operands),
        )
        written = [text.replace(_ELLIPSIS, "", 1) for text in (*texts, result)]
        check(
            all(text.isalpha() for text in written if text),
            ("einsum_config {!r} is not made of letters, with one '...' for each operand"),
            config,
        )
        check(
            len(set(written[-1])) >= len(written[-1]),
            "einsum_config {!r} makes {!r}, with a letter twice",
            config,
            result,
        )
        counts = [
            len(_sizes(type_)) - len(text) for type_, text in zip(operands, written, strict=False)
        ]
        spread = (n for n, text in zip(counts, texts, strict=True) if _ELLIPSIS in text)
        counts.append(max(spread, default=0))
        *found, wanted = (
            text.replace(_ELLIPSIS, _letters_of_ellipsis(count))
            for text, count in zip((*texts, result), counts, strict=True)
        )
        check(
            not any(map(_differs_in_rank, operands, found)),
            "einsum_config has {!r} for {}",
            config,
            ", ".join(map(str, self.operand_types)),
        )
        return found, wanted

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """Dimensions with one letter have one size; the result has letters of the operands."""
        labels, wanted = self.letters(operands)
        sizes: dict[str, int] = {}
        for type_, text in zip(operands, labels, strict=True):
            for letter, size in zip(text, _sizes(type_), strict=True):
                known = sizes.setdefault(letter, size)
                check(
                    compatible(known, size),
                    "einsum_config gives sizes {} and {} the letter {!r}",
                    known,
                    size,
                    letter,
                )
                sizes[letter] = size if is_unknown(known) else known
        check(set(wanted) <= set(sizes), "einsum_config makes {!r} of {!r}", wanted, "".join(sizes))
        result, operand = as_array(declared[0]), cast(Array, operands[0])
        is_product = len(operands) > 1
        if result is None or not (is_product or result.element_type == operand.element_type):
            raise VerifyException(f"declared {spell(declared[0])} for {spell_all(operands)}")


_ELLIPSIS = "..."
_FIRST_OF_ELLIPSIS = 0xE000
"""Dimensions of an ellipsis have letters for private use, counted from the last one."""


def _letters_of_ellipsis(count: int) -> str:
    return "".join(chr(_FIRST_OF_ELLIPSIS + i) for i in reversed(range(count)))


def _differs_in_rank(type_: Attribute, labels: str) -> bool:
    return as_array(type_) is None or len(_sizes(type_)) != len(labels)


@op_definition
class EinsumOp(ContractionOp, EinsumBase):
    """Sums of products of two arrays."""

    name = "stablehlo.einsum"
    lhs = operand_def()
    rhs = operand_def()
    assembly_format = f"$lhs `,` $rhs `,` {_END}"


@op_definition
class UnaryEinsumOp(EinsumBase):
    """Sums of one array."""

    name = "stablehlo.unary_einsum"
    operand = operand_def()
    assembly_format = f"$operand `,` {_END}"


@op_definition
class TorchIndexSelectOp(PureOp):
    """The parts along `dim` that indices say; the first `batch_dims` are those of both operands."""

    name = "stablehlo.torch_index_select"
    operand = operand_def()
    index = operand_def()
    dim = prop_def(IntegerAttr.constr(i64))
    batch_dims = prop_def(IntegerAttr.constr(i64))

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The operand's type, with the sizes of the indices in the place of `dim`."""
        operand, index = map(as_array, operands)
        if operand is None or index is None:
            raise VerifyException(f"takes arrays, found {spell_all(operands)}")
        sizes, index_sizes = sizes_of(operand), sizes_of(index)
        dim, batch = self.dim.value.data, self.batch_dims.value.data
        check(
            0 <= batch <= min(len(index_sizes), dim) and dim < len(sizes),
            "dim {}, batch_dims {} for {}",
            dim,
            batch,
            spell_all(operands),
        )
        check(
            compatible_sizes(sizes[:batch], index_sizes[:batch]),
            "{} differ in the first {} sizes",
            spell_all(operands),
            batch,
        )
        taken = (*sizes[:dim], *index_sizes[batch:], *sizes[dim + 1 :])
        return [array(operand.element_type, taken)]
