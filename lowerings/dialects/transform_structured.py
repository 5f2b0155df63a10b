"""
What xDSL's `transform` dialect lacks of `transform.structured` and `transform.loop`: steps that say
how linalg operations run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    i1,
    i64,
)
from xdsl.dialects.transform import (
    TransformHandleType,
    TransformOpHandleType,
    TransformParamHandleType,
)
from xdsl.dialects.utils import (
    ScalableDynamicIndexList,
    parse_dynamic_index_list_without_types,
    print_dynamic_index_list,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    ParsingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from xla_dialect.xdsl.definition import op_definition

_I64S = DenseArrayBase.constr(i64)


class _StructuredStep(IRDLOperation):
    """A step that takes a handle and returns one to what became of its operations."""

    target = operand_def(TransformOpHandleType)
    transformed = result_def(TransformOpHandleType)
    irdl_options = (ParsePropInAttrDict(),)


@op_definition
class GeneralizeOp(_StructuredStep):
    """Named linalg operations as `linalg.generic`."""

    name = "transform.structured.generalize"
    assembly_format = "$target attr-dict `:` functional-type(operands, results)"


@op_definition
class InterchangeOp(_StructuredStep):
    """Orders the dimensions of a linalg operation."""

    name = "transform.structured.interchange"
    iterator_interchange = opt_prop_def(_I64S)
    assembly_format = (
        "$target (`iterator_interchange` `=` $iterator_interchange^)? attr-dict "
        "`:` functional-type(operands, results)"
    )


@op_definition
class PromoteOp(_StructuredStep):
    """Copies operands to memory of their own."""

    name = "transform.structured.promote"
    operands_to_promote = opt_prop_def(ArrayAttr[IntegerAttr])
    use_full_tile_buffers = prop_def(ArrayAttr, default_value=ArrayAttr(()))
    use_full_tiles_by_default = opt_prop_def(UnitAttr)
    use_original_subview_size = opt_prop_def(UnitAttr)
    use_alloca = opt_prop_def(UnitAttr)
    memory_space = opt_prop_def()
    mapping = opt_prop_def()
    alignment = opt_prop_def(IntegerAttr)
    assembly_format = "$target attr-dict `:` functional-type(operands, results)"


@op_definition
class FuseIntoContainingOp(IRDLOperation):
    """Moves what produces an operand into the loop that uses it."""

    name = "transform.structured.fuse_into_containing_op"
    producer_op = operand_def(TransformOpHandleType)
    containing_op = operand_def(TransformOpHandleType)
    fused_op = result_def(TransformOpHandleType)
    new_containing_op = result_def(TransformOpHandleType)
    assembly_format = (
        "$producer_op `into` $containing_op attr-dict `:` functional-type(operands, results)"
    )


@irdl_custom_directive
class VectorSizes(ScalableDynamicIndexList):
    """Sizes, if there are any."""

    dynamic_values: VariadicOperandVariable
    static_values: AttributeVariable
    scalable_flags: AttributeVariable

    def set_empty(self, state: ParsingState) -> None:
        """Sets what an operation without sizes has."""
        self.dynamic_values.set(state, ())
        self.static_values.set(state, DenseArrayBase.from_list(i64, ()))
        self.scalable_flags.set(state, DenseArrayBase.from_list(i1, ()))

    def is_present(self, op: IRDLOperation) -> bool:
        """Whether an operation has sizes."""
        return bool(cast("DenseArrayBase[IntegerType] | None", self.static_values.get(op)))

    def is_anchorable(self) -> bool:
        """They decide whether the keyword before them is printed."""
        return True


@op_definition
class VectorizeOp(IRDLOperation):
    """Turns a linalg operation into operations on vectors, which hold all of its iterations."""

    name = "transform.structured.vectorize"
    target = operand_def(TransformOpHandleType)
    vector_sizes = var_operand_def(TransformParamHandleType)
    static_vector_sizes = opt_prop_def(_I64S)
    vectorize_nd_extract = opt_prop_def(UnitAttr)
    assume_dynamic_dims_match_vec_sizes = opt_prop_def(UnitAttr)
    create_named_contraction = opt_prop_def(UnitAttr)
    scalable_sizes = opt_prop_def(DenseArrayBase.constr(i1))

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$target (`vector_sizes` "
        "custom<VectorSizes>($vector_sizes, $static_vector_sizes, $scalable_sizes)^)? "
        "attr-dict `:` type($target) (`,` type($vector_sizes)^)?"
    )


@op_definition
class TileUsingForallOp(IRDLOperation):
    """Tiles a linalg operation by a loop whose iterations may run in parallel."""

    name = "transform.structured.tile_using_forall"
    target = operand_def(TransformOpHandleType)
    num_threads = var_operand_def(TransformHandleType)
    tile_sizes = var_operand_def(TransformHandleType)
    packed_num_threads = opt_operand_def(TransformHandleType)
    packed_tile_sizes = opt_operand_def(TransformHandleType)
    static_num_threads = opt_prop_def(_I64S)
    static_tile_sizes = opt_prop_def(_I64S)
    mapping = opt_prop_def(ArrayAttr)
    tiled_op = result_def(TransformOpHandleType)
    forall_op = result_def(TransformOpHandleType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> TileUsingForallOp:
        """Parses `%target tile_sizes [4, %n] (mapping = [...]) : (!a, !b) -> (!c, !d)`."""
        position = parser.pos
        target = parser.parse_unresolved_operand()
        given: dict[str, tuple[Sequence[UnresolvedOperand], Sequence[int]]] = {}
        for name in ("num_threads", "tile_sizes"):
            found = parser.parse_optional_keyword(name)
            given[name] = (
                parse_dynamic_index_list_without_types(parser, DYNAMIC_INDEX) if found else ((), ())
            )
        properties: dict[str, Attribute] = {
            f"static_{name}": DenseArrayBase.from_list(i64, sizes)
            for name, (_, sizes) in given.items()
            if sizes
        }
        if parser.parse_optional_punctuation("("):
            parser.parse_keyword("mapping")
            parser.parse_punctuation("=")
            properties["mapping"] = parser.parse_attribute()
            parser.parse_punctuation(")")
        parser.parse_punctuation(":")
        signature = parser.parse_function_type()
        dynamic = [operands for operands, _ in given.values()]
        unresolved = [target, *dynamic[0], *dynamic[1]]
        values = parser.resolve_operands(unresolved, signature.inputs.data, position)
        threads = 1 + len(dynamic[0])
        return cls(
            operands=[values[0], values[1:threads], values[threads:], [], []],
            result_types=signature.outputs.data,
            properties=properties,
        )

    def print(self, printer: Printer) -> None:
        """Prints what `parse` parses."""
        printer.print_string(" ")
        printer.print_ssa_value(self.target)
        for name, values, sizes in (
            ("num_threads", self.num_threads, self.static_num_threads),
            ("tile_sizes", self.tile_sizes, self.static_tile_sizes),
        ):
            if sizes is not None and len(sizes):
                printer.print_string(f" {name} ")
                print_dynamic_index_list(printer, DYNAMIC_INDEX, values, sizes.get_values())
        if self.mapping is not None:
            printer.print_string("(mapping = ")
            printer.print_attribute(self.mapping)
            printer.print_string(")")
        printer.print_string(" : ")
        printer.print_function_type(
            [value.type for value in self.operands], [value.type for value in self.results]
        )


class _UnrollStep(IRDLOperation):
    target = operand_def(TransformOpHandleType)
    factor = prop_def(IntegerAttr[IntegerType])
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$target attr-dict `:` type($target)"


@op_definition
class LoopUnrollOp(_UnrollStep):
    """Unrolls a loop: copies of its body follow each other."""

    name = "transform.loop.unroll"


@op_definition
class LoopUnrollAndJamOp(_UnrollStep):
    """Unrolls a loop, and its copies run side by side inside of the loops that it holds."""

    name = "transform.loop.unroll_and_jam"


STRUCTURED_OPERATIONS: tuple[type[IRDLOperation], ...] = (
    FuseIntoContainingOp,
    GeneralizeOp,
    InterchangeOp,
    LoopUnrollAndJamOp,
    LoopUnrollOp,
    PromoteOp,
    TileUsingForallOp,
    VectorizeOp,
)
