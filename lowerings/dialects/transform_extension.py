"""
xDSL's `transform` dialect with the operations that it lacks, and those that it reads in generic
form only, in the syntax of MLIR.

xDSL 0.74.0 has 22 operations of the dialect; where one of them cannot be parsed as MLIR prints it,
the class here has its name. `TRANSFORM` is to be loaded in the place of
`xdsl.dialects.transform.Transform`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import transform
from xdsl.dialects.builtin import (
    I32,
    ArrayAttr,
    BoolAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.dialects.transform import (
    TransformHandleType,
    TransformOpHandleType,
    TransformParamHandleType,
)
from xdsl.ir import Dialect
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    opt_operand_def,
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
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SingleBlockImplicitTerminator, ensure_terminator
from xdsl.utils.exceptions import VerifyException

from lowerings.dialects.transform_structured import STRUCTURED_OPERATIONS
from xla_dialect.xdsl.definition import op_definition

FAILURES = ("suppress", "propagate")
"""What becomes of a silenceable failure, by the number with which MLIR stores it."""
PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge")
"""How two parameters are compared, by the number with which MLIR stores it."""


class _Keyword(CustomDirective):
    """A keyword, which is stored as its number."""

    NAMES: ClassVar[tuple[str, ...]]
    number: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the keyword."""
        position = parser.pos
        keyword = parser.parse_identifier()
        if keyword not in self.NAMES:
            parser.raise_error(f"expected one of {', '.join(self.NAMES)}", position, parser.pos)
        self.number.set(state, IntegerAttr(self.NAMES.index(keyword), i32))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the keyword."""
        property_ = self.number.get(op)
        number = property_.value.data if isinstance(property_, IntegerAttr) else -1
        is_known = 0 <= number < len(self.NAMES)
        state.print_whitespace(printer)
        printer.print_string(self.NAMES[number] if is_known else str(number))


@irdl_custom_directive
class FailureMode(_Keyword):
    """The keyword of a failure propagation mode."""

    NAMES: ClassVar = FAILURES
    number: AttributeVariable


@irdl_custom_directive
class Predicate(_Keyword):
    """The keyword of a comparison."""

    NAMES: ClassVar = PREDICATES
    number: AttributeVariable


@irdl_custom_directive
class MatchPairs(CustomDirective):
    """`@matcher -> @action, ...`"""

    matchers: AttributeVariable
    actions: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the pairs."""

        def parse_pair() -> tuple[SymbolRefAttr, SymbolRefAttr]:
            matcher = SymbolRefAttr(parser.parse_symbol_name())
            parser.parse_punctuation("->")
            return matcher, SymbolRefAttr(parser.parse_symbol_name())

        pairs = parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_pair)
        for names, variable in zip(
            zip(*pairs, strict=True), (self.matchers, self.actions), strict=True
        ):
            variable.set(state, ArrayAttr(names))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the pairs."""
        assert isinstance(op, ForeachMatchOp)
        pairs = zip(op.matchers.data, op.actions.data, strict=True)
        state.print_whitespace(printer)
        printer.print_string(", ".join(f"{matcher} -> {action}" for matcher, action in pairs))


_YIELDS = SingleBlockImplicitTerminator(transform.YieldOp)


@op_definition
class AnnotateOp(IRDLOperation):
    """Gives operations an attribute: a unit, or the value of a parameter."""

    name = "transform.annotate"
    attribute = prop_def(StringAttr, prop_name="name")
    target = operand_def(TransformOpHandleType)
    param = opt_operand_def(TransformParamHandleType)
    assembly_format = (
        "$target $name attr-dict (`=` $param^)? `:` type($target) (`,` type($param)^)?"
    )


@op_definition
class CastOp(IRDLOperation):
    """A handle with another type, which its operations have to fit."""

    name = "transform.cast"
    input = operand_def(TransformOpHandleType)
    output = result_def(TransformOpHandleType)
    assembly_format = "$input attr-dict `:` type($input) `to` type($output)"


@op_definition
class ForeachOp(IRDLOperation):
    """Runs its body once for each operation of a handle; several handles go side by side."""

    name = "transform.foreach"
    targets = var_operand_def(TransformHandleType)
    with_zip_shortest = opt_prop_def(UnitAttr)
    results_ = var_result_def(TransformHandleType)
    body = region_def("single_block")
    traits = traits_def(_YIELDS)

    assembly_format = (
        "$targets (`with_zip_shortest` $with_zip_shortest^)? `:` type($targets) "
        "(`->` type($results_)^)? $body attr-dict"
    )

    def __post_init__(self) -> None:
        ensure_terminator(self, _YIELDS)


@op_definition
class ForeachMatchOp(IRDLOperation):
    """
    Walks the operations inside of a handle's, and includes for each the action of the first
    matcher that takes it.
    """

    name = "transform.foreach_match"
    root = operand_def(TransformOpHandleType)
    forwarded = var_operand_def(TransformHandleType)
    restrict_root = opt_prop_def(UnitAttr)
    flatten_results = opt_prop_def(UnitAttr)
    matchers = prop_def(ArrayAttr[SymbolRefAttr])
    actions = prop_def(ArrayAttr[SymbolRefAttr])
    updated = result_def(TransformOpHandleType)
    forwarded_outputs = var_result_def(TransformHandleType)

    assembly_format = (
        "(`restrict_root` $restrict_root^)? (`flatten_results` $flatten_results^)? `in` "
        "$root (`,` $forwarded^)? custom<MatchPairs>($matchers, $actions) "
        "attr-dict `:` functional-type(operands, results)"
    )

    def verify_(self) -> None:
        if len(self.matchers) != len(self.actions):
            raise VerifyException(f"{len(self.matchers)} matchers, {len(self.actions)} actions")


@op_definition
class GetParentOp(IRDLOperation):
    """The operations around those of a handle."""

    name = "transform.get_parent_op"
    isolated_from_above = opt_prop_def(UnitAttr)
    allow_empty_results = opt_prop_def(UnitAttr)
    op_name = opt_prop_def(StringAttr)
    deduplicate = opt_prop_def(UnitAttr)
    nth_parent = prop_def(IntegerAttr, default_value=IntegerAttr(1, i64))
    target = operand_def(TransformOpHandleType)
    parent_result = result_def(TransformOpHandleType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$target attr-dict `:` functional-type(operands, results)"


@op_definition
class IncludeOp(IRDLOperation):
    """Runs a named sequence."""

    name = "transform.include"
    target = prop_def(FlatSymbolRefAttrConstr)
    failure_propagation_mode = prop_def(IntegerAttr[I32])
    arguments = var_operand_def(TransformHandleType)
    results_ = var_result_def(TransformHandleType)
    assembly_format = (
        "$target `failures` `(` custom<FailureMode>($failure_propagation_mode) `)` "
        "`(` $arguments `)` attr-dict `:` functional-type(operands, results)"
    )


@op_definition
class MatchOperationEmptyOp(IRDLOperation):
    """Fails unless a handle is empty."""

    name = "transform.match.operation_empty"
    operand_handle = operand_def(TransformOpHandleType)
    assembly_format = "$operand_handle attr-dict `:` type($operand_handle)"


@op_definition
class MatchOperationNameOp(IRDLOperation):
    """Fails unless the operation of a handle has one of some names."""

    name = "transform.match.operation_name"
    op_names = prop_def(ArrayAttr[StringAttr])
    operand_handle = operand_def(TransformOpHandleType)
    assembly_format = "$operand_handle $op_names attr-dict `:` type($operand_handle)"


@op_definition
class MatchParamCmpIOp(IRDLOperation):
    """Fails unless a comparison holds for two parameters."""

    name = "transform.match.param.cmpi"
    T: ClassVar = VarConstraint("T", BaseAttr(TransformParamHandleType))
    predicate = prop_def(IntegerAttr[I32])
    param = operand_def(T)
    reference = operand_def(T)
    assembly_format = (
        "custom<Predicate>($predicate) $param `,` $reference attr-dict `:` type($param)"
    )


@op_definition
class MergeHandlesOp(IRDLOperation):
    """The operations of several handles, one after the other."""

    name = "transform.merge_handles"
    T: ClassVar = VarConstraint("T", BaseAttr(TransformHandleType))
    deduplicate = opt_prop_def(UnitAttr)
    handles = var_operand_def(T)
    result = result_def(T)
    assembly_format = "(`deduplicate` $deduplicate^)? $handles attr-dict `:` type($result)"


@op_definition
class ParamConstantOp(IRDLOperation):
    """A parameter that the script gives."""

    name = "transform.param.constant"
    value = prop_def()
    param = result_def(TransformParamHandleType)
    assembly_format = "$value attr-dict `->` type($param)"


@op_definition
class SplitHandleOp(IRDLOperation):
    """Handles to the operations of one, each by itself."""

    name = "transform.split_handle"
    pass_through_empty_handle = prop_def(BoolAttr, default_value=IntegerAttr(-1, i1))
    fail_on_payload_too_small = prop_def(BoolAttr, default_value=IntegerAttr(-1, i1))
    overflow_result = opt_prop_def(IntegerAttr)
    handle = operand_def(TransformHandleType)
    results_ = var_result_def(TransformHandleType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$handle attr-dict `:` functional-type(operands, results)"


@op_definition
class KnobOp(IRDLOperation):
    """A parameter that a search, or the user, selects among options."""

    name = "transform.tune.knob"
    knob = prop_def(StringAttr, prop_name="name")
    options = prop_def()
    selected = opt_prop_def()
    result = result_def(TransformParamHandleType)
    assembly_format = (
        "`<` $name `>` (`=` $selected^ `from`)? `options` `=` $options attr-dict `->` type($result)"
    )


OPERATIONS: tuple[type[IRDLOperation], ...] = (
    *STRUCTURED_OPERATIONS,
    AnnotateOp,
    CastOp,
    ForeachMatchOp,
    ForeachOp,
    GetParentOp,
    IncludeOp,
    KnobOp,
    MatchOperationEmptyOp,
    MatchOperationNameOp,
    MatchParamCmpIOp,
    MergeHandlesOp,
    ParamConstantOp,
    SplitHandleOp,
)
"""What is not xDSL's."""
_OWN = {op.name for op in OPERATIONS}

TRANSFORM = Dialect(
    transform.Transform.name,
    [*(op for op in transform.Transform.operations if op.name not in _OWN), *OPERATIONS],
    list(transform.Transform.attributes),
)
"""`transform` as MLIR spells it, as far as scripts here know it."""
