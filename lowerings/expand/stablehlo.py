"""Passes on StableHLO: sizes that become known, and the conversion to `xla`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import ParseError

from xla_dialect.diagnostics import XlaError
from xla_dialect.stablehlo import (
    STABLEHLO,
    ArithmeticName,
    convert_stablehlo,
    has_source_operations,
)
from xla_dialect.stablehlo.legalize.custom_calls import WRAPPER
from xla_dialect.stablehlo.ops.custom_calls import SHAPE_OPERANDS
from xla_dialect.stablehlo.ops.dynamic_shapes import ShapedOp, constant_integers
from xla_dialect.types import Array, extents, fits, is_unbounded, spell_all
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.text import MlirParser
from xla_dialect.xdsl.traversal import operations_in


class ArgumentTypesError(XlaError):
    """The option `arguments` is no list of types."""


def argument_types(text: str, ctx: Context) -> list[Attribute]:
    """The array types of `3x4xf32,5xi32`; raises ArgumentTypesError."""
    types: list[Attribute] = []
    for part in text.split(","):
        try:
            parser = MlirParser(ctx, f"tensor<{part.strip()}>")
            types.append(parser.parse_type())
        except ParseError as error:
            raise ArgumentTypesError(f"{part!r} is no type like 3x4xf32: {error.msg}") from None
    return types


def convert_in_place(
    op: ModuleOp, types: Sequence[Attribute] = (), arithmetic: ArithmeticName = "integer"
) -> None:
    """Replaces the functions of a module of StableHLO; raises XlaError for an unknown size."""
    result = convert_stablehlo(op, types, arithmetic)
    for function in list(op.ops):
        function.detach()
        function.erase(safe_erase=False)
    for function in list(result.ops):
        function.detach()
        op.body.block.add_op(function)
    op.attributes.update(result.attributes)


@dataclass(frozen=True)
class ConvertStablehloToXlaPass(ModulePass):
    """
    Reads operations of StableHLO as those of `xla`, once their arrays have sizes.

    Programs with static types are read so at once. One that JAX exported for any batch size stays
    StableHLO until `arguments` say the types of its arguments: sizes follow from them, operands
    that say a shape become constants, and functions whose types depend on them are put in the
    place of their calls.

    ```
    // convert-stablehlo-to-xla{arguments="2xf32"}
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.negate"(%x) : (tensor<?xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
    }
    // becomes
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = xla.negate %x : tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }
    ```
    """

    name = "convert-stablehlo-to-xla"

    arguments: str = ""
    """The types of the arguments of the public function: `3x4xf32,5xi32`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces the functions of the module; raises XlaError where a size is not known."""
        types = argument_types(self.arguments, ctx) if self.arguments else ()
        if has_source_operations(op):
            convert_in_place(op, types)


@dataclass(frozen=True)
class StablehloRefineShapesPass(ModulePass):
    """
    Gives every array the sizes that follow from the arguments, which have to be known.

    Shapes are computed, calls of functions that depend on them inlined. The program is one of
    `xla` then; the target `stablehlo` prints it as StableHLO.

    ```
    func.func @main(%x: tensor<2xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.negate"(%x) : (tensor<2xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
    }
    // becomes
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = xla.negate %x : tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }
    ```
    """

    name = "stablehlo-refine-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises XlaError where a size does not follow; a program of `xla` stays as it is."""
        if has_source_operations(op):
            convert_in_place(op)


_CLASSES = {op.name: op for op in STABLEHLO.operations}


@dataclass(frozen=True)
class StablehloRefineArgumentsPass(ModulePass):
    """
    Gives the arguments of `@main` types with more known sizes.

    Their users go on with the types that were declared, through a custom call that
    `stablehlo-refine-shapes` takes away: operations and called functions stay valid.

    ```
    // stablehlo-refine-arguments{types="2xf32"}
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.negate"(%x) : (tensor<?xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
    }
    // becomes
    func.func @main(%x: tensor<2xf32>) -> tensor<?xf32> {
      %0 = "stablehlo.constant"() <{value = dense<2> : tensor<1xi64>}> : () -> tensor<1xi64>
      %1 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %0) {
        indices_of_shape_operands = dense<1> : tensor<1xi64>
      } : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
      %2 = "stablehlo.negate"(%1) : (tensor<?xf32>) -> tensor<?xf32>
      func.return %2 : tensor<?xf32>
    }
    ```
    """

    name = "stablehlo-refine-arguments"

    types: str = ""
    """The types of all arguments, `3x4xf32,?xi32`; where none are given, all stay as they are."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises ArgumentTypesError for types that are no refinement of the declared ones."""
        if not self.types:
            return
        types = argument_types(self.types, ctx)
        for function in op.ops:
            if not isinstance(function, FuncOp) or function.sym_name.data != "main":
                continue
            declared = function.function_type.inputs.data
            if len(types) != len(declared) or not all(map(fits, types, declared)):
                takes, given = spell_all(declared), spell_all(types)
                raise ArgumentTypesError(f"@main takes {takes}, the types are {given}")
            outputs = function.function_type.outputs.data
            function.properties["function_type"] = FunctionType.from_lists(types, outputs)
            added: list[Operation] = []
            for argument, type_ in zip(function.args, types, strict=True):
                if argument.type != type_:
                    added += _refine(argument, type_)
            Rewriter.insert_op(added, InsertPoint.at_start(function.body.block))


def _refine(argument: BlockArgument, type_: Attribute) -> Sequence[Operation]:
    """Gives an argument its type; what makes one of the declared type of it, for its users."""
    sizes = extents(cast(Array, type_))
    added: list[Operation] = []
    attributes: dict[str, Attribute] = {}
    if DYNAMIC_INDEX not in sizes:
        literal = DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(sizes)]), sizes)
        added.append(
            create(
                _CLASSES["stablehlo.constant"],
                result_types=[literal.type],
                properties={"value": literal},
            )
        )
        positions = DenseIntOrFPElementsAttr.from_list(TensorType(i64, [1]), [1])
        attributes[SHAPE_OPERANDS] = positions
    wrapper = create(
        _CLASSES["stablehlo.custom_call"],
        operands=[argument, *(value for op in added for value in op.results)],
        result_types=[argument.type],
        properties={"call_target_name": StringAttr(WRAPPER)},
        attributes=attributes,
    )
    argument.replace_uses_with_if(wrapper.results[0], lambda use: use.operation is not wrapper)
    Rewriter.replace_value_with_new_type(argument, type_)
    return [*added, wrapper]


@dataclass(frozen=True)
class StablehloCanonicalizeDynamismPass(ModulePass):
    """
    Replaces operations whose shape is an operand, where their types or constants say it.

    ```
    %0 = "stablehlo.dynamic_reshape"(%x, %s) : (tensor<?xf32>, tensor<2xi32>) -> tensor<2x3xf32>
    // becomes
    %0 = "stablehlo.reshape"(%x) : (tensor<?xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "stablehlo-canonicalize-dynamism"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Leaves what depends on arguments as it is."""
        for inner in list(operations_in(op)):
            found = _replacement(inner) if isinstance(inner, ShapedOp) else None
            if found is not None:
                Rewriter.replace_op(inner, found)


def _replacement(op: ShapedOp) -> Operation | None:
    """The operation with its shape in types and attributes; None where that is not known."""
    result, first = op.results[0], op.first_shape
    shapes = list(map(constant_integers, op.operands[first:]))
    if (None in shapes) if op.SHAPES else is_unbounded(result.type):
        return None
    lists = cast("list[tuple[int, ...]]", shapes) if op.SHAPES else ()
    found = op.static(lists, op.operands[:first], [result.type])
    found.results[0].name_hint = result.name_hint
    return found


_TARGET = StringAttr("shape_assertion")


@dataclass(frozen=True)
class StablehloCheckShapeAssertionsPass(ModulePass):
    """
    Checks what `@shape_assertion` says of the sizes of arguments, and erases these calls.

    ```
    stablehlo.custom_call @shape_assertion(%ok) {error_message = "..."} : (tensor<i1>) -> ()
    // becomes nothing, or the error with its message
    ```
    """

    name = "stablehlo-check-shape-assertions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises XlaError for an assertion that does not hold, or depends on unknown sizes."""
        if not has_source_operations(op):
            return
        convert_stablehlo(op.clone())
        for inner in list(operations_in(op)):
            if inner.properties.get("call_target_name") == _TARGET:
                inner.detach()
                inner.erase()
