# pyright: reportPrivateUsage=false
"""The methods that follow from the classes of operations: signature, documentation and call.

Functions of elements need nothing but their class. Of the other operations `METHODS` has what
classes do not say: how XLA's `XlaBuilder` names the method and its arguments, and an example.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.irdl import VariadicDef

from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.builder.arguments import (
    as_array_type,
    as_element_type,
    explained,
)
from xla_dialect.builder.recorder import Computations, Operand, XlaValue
from xla_dialect.op import XlaOp, property_parameter
from xla_dialect.ops import (
    asynchronous,
    collectives,
    control_flow,
    conversion,
    data_movement,
    dynamic_shapes,
    elementwise,
    gather_scatter,
    linear_algebra,
    normalization,
    operations_of,
    random,
    sorting,
    transfers,
    tuples,
)
from xla_dialect.ops.creation import IotaOp
from xla_dialect.types import ElementClass, element_class

MethodT = TypeVar("MethodT", bound=Callable[..., Any])
Method: TypeAlias = Callable[..., Any]

OPERATION_OF: dict[str, type[XlaOp]] = {}
"""The operations that methods are about."""


def appends(operation: type[XlaOp]) -> Callable[[MethodT], MethodT]:
    """
    Makes a method of the builder of a function that appends an operation, and perhaps others.

    The documentation goes on with that of the operation; arguments of wrong types are told.
    """

    def method_of(function: MethodT) -> MethodT:
        method = explained(function)
        OPERATION_OF[function.__name__] = operation
        own, contract = inspect.getdoc(function) or "", contract_text(operation)
        texts = (contract, own) if own.startswith("Example") else (own, contract)
        method.__doc__ = "\n\n".join(texts)
        return cast(MethodT, method)

    return method_of


def contract_text(operation: type[XlaOp]) -> str:
    """What the documentation of a method has of its operation: formula and rules."""
    return f"`{operation.name}`: {inspect.getdoc(operation)}"


@dataclass(frozen=True)
class MethodOf:
    """What the class of an operation does not say about its method."""

    operation: type[XlaOp]
    parameters: str
    """
    The arguments in order, those by keyword only after `*`, named as in the class, or `name=part`.

    `shape` is the type of the result, `new_element_type` that of its elements.
    """
    example: str
    """The arguments of an example."""


SHORT_NAMES: Mapping[type[XlaOp], str] = {
    elementwise.CountLeadingZerosOp: "clz",
    elementwise.CosineOp: "cos",
    elementwise.ExponentialOp: "exp",
    elementwise.ExponentialMinusOneOp: "expm1",
    elementwise.LogPlusOneOp: "log1p",
    elementwise.NegateOp: "neg",
    elementwise.PopcntOp: "population_count",
    elementwise.RoundNearestAfzOp: "round",
    elementwise.SineOp: "sin",
    elementwise.SubtractOp: "sub",
    elementwise.MultiplyOp: "mul",
    elementwise.DivideOp: "div",
    elementwise.PowerOp: "pow",
    elementwise.RemainderOp: "rem",
    elementwise.MaximumOp: "max",
    elementwise.MinimumOp: "min",
}
"""Functions of elements that `XlaBuilder` does not name as HLO does."""

METHODS: Mapping[str, MethodOf] = {
    "iota": MethodOf(IotaOp, "shape iota_dimension", '"s32[4,8]", 1'),
    "bitcast_convert_type": MethodOf(
        conversion.BitcastConvertOp, "operand new_element_type", 'x, "u8"'
    ),
    "reduce_precision": MethodOf(
        conversion.ReducePrecisionOp,
        "operand exponent_bits mantissa_bits",
        "x, exponent_bits=5, mantissa_bits=10",
    ),
    "stochastic_convert": MethodOf(
        random.StochasticConvertOp,
        "operand random new_element_type",
        'x, b.bitcast_convert_type(y, "u32"), "bf16"',
    ),
    "transpose": MethodOf(data_movement.TransposeOp, "operand permutation=dimensions", "x, [1, 0]"),
    "concatenate": MethodOf(data_movement.ConcatenateOp, "operands=inputs dimension", "[x, y], 0"),
    "concat_in_dim": MethodOf(
        data_movement.ConcatenateOp, "operands=inputs dimension", "[x, y], 1"
    ),
    "rev": MethodOf(data_movement.ReverseOp, "operand dimensions", "x, [1]"),
    "copy": MethodOf(data_movement.CopyOp, "operand", "x"),
    "bitcast": MethodOf(data_movement.BitcastOp, "operand shape", 'x, "s32[32]"'),
    "get_dimension_size": MethodOf(dynamic_shapes.GetDimensionSizeOp, "operand dimension", "x, 0"),
    "top_k": MethodOf(sorting.TopkOp, "operand k largest", "x, 3"),
    "gather": MethodOf(
        gather_scatter.GatherOp,
        "operand start_indices offset_dims collapsed_slice_dims slice_sizes start_index_map"
        " index_vector_dim indices_are_sorted * operand_batching_dims start_indices_batching_dims",
        "x, k, [1], [0], [1, 8], [0], 1",
    ),
    "fft": MethodOf(linear_algebra.FftOp, "operand fft_type fft_length", 'x, "RFFT", [8]'),
    "cholesky": MethodOf(
        linear_algebra.CholeskyOp, "a lower", "x @ b.transpose(x, [1, 0]), lower=True"
    ),
    "triangular_solve": MethodOf(
        linear_algebra.TriangularSolveOp,
        "a b left_side lower unit_diagonal transpose_a",
        'x @ b.transpose(x, [1, 0]), y, True, True, False, "NO_TRANSPOSE"',
    ),
    "batch_norm_training": MethodOf(
        normalization.BatchNormTrainingOp,
        "operand scale offset epsilon feature_index",
        "x, v, v, 0.001, 1",
    ),
    "batch_norm_inference": MethodOf(
        normalization.BatchNormInferenceOp,
        "operand scale offset mean variance epsilon feature_index",
        "x, v, v, v, v, 0.001, 1",
    ),
    "batch_norm_grad": MethodOf(
        normalization.BatchNormGradOp,
        "operand scale mean variance grad_output epsilon feature_index",
        "x, v, v, v, y, 0.001, 1",
    ),
    "rng_get_and_update_state": MethodOf(random.RngGetAndUpdateStateOp, "delta", "4"),
    "optimization_barrier": MethodOf(control_flow.OptBarrierOp, "operand", "x"),
    "domain": MethodOf(
        control_flow.DomainOp,
        "operand domain",
        """x, '{kind="sharding", entry={maximal device=0}, exit={replicated}}'""",
    ),
    "tuple": MethodOf(tuples.TupleOp, "elements", "[x, i]"),
    "ragged_all_to_all": MethodOf(
        collectives.RaggedAllToAllOp,
        "input output input_offsets send_sizes output_offsets recv_sizes replica_groups channel_id",
        "x, y, k, k, k, k, [[0, 1, 2]]",
    ),
    "replica_id": MethodOf(collectives.ReplicaIdOp, "", ""),
    "partition_id": MethodOf(collectives.PartitionIdOp, "", ""),
    "async_update": MethodOf(asynchronous.AsyncUpdateOp, "context", "b.async_start(b.neg, [x])"),
    "copy_start": MethodOf(asynchronous.CopyStartOp, "operand", "x"),
    "add_dependency": MethodOf(transfers.AddDependencyOp, "operand token", "x, b.outfeed(y)"),
}
"""The other methods that follow from their class, by name."""

_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
_RESULTS: Mapping[str, str] = {"shape": "TypeLike", "new_element_type": "ElementTypeLike"}
"""The annotations of what says which results there are."""


def _method(
    name: str,
    method: Method,
    operation: type[XlaOp],
    text: str,
    signature: inspect.Signature | None = None,
) -> Method:
    """The method of this name; the signature, where it is not that of the function."""
    if signature is not None:
        _, *parameters = signature.parameters.values()
        method.__annotations__ = {each.name: each.annotation for each in parameters}
        method.__signature__ = signature
    method.__name__ = name
    method.__qualname__ = f"XlaBuilder.{name}"
    method.__doc__ = text
    OPERATION_OF[name] = operation
    return explained(method)


def _parameters(spelling: MethodOf) -> Iterator[tuple[inspect.Parameter, str]]:
    """The parameters of a method, and the parts of the operation that they are given for."""
    definition = spelling.operation.get_irdl_definition()
    operands = dict(definition.operands)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for word in spelling.parameters.split():
        if word == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        name, _, part = word.partition("=")
        part = part or name
        if part in definition.properties:
            parameter = property_parameter(spelling.operation, part).replace(name=name, kind=kind)
        else:
            is_list = isinstance(operands.get(part), VariadicDef)
            value = "Sequence[XlaValue]" if is_list else "XlaValue"
            annotation = value if part in operands else _RESULTS[part]
            parameter = inspect.Parameter(name, kind, annotation=annotation)
        yield parameter, part


def _spelled(name: str, spelling: MethodOf) -> Method:
    operation = spelling.operation
    definition = operation.get_irdl_definition()
    parameters = list(_parameters(spelling))
    names = {part: parameter.name for parameter, part in parameters}

    def call(self: Computations, *arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(self, *arguments, **keywords)
        bound.apply_defaults()
        given = bound.arguments
        shape, element_type = given.get("shape"), given.get("new_element_type")
        return self._append(
            operation,
            *(given[names[part]] for part, _ in definition.operands),
            result_types=None if shape is None else [as_array_type(shape)],
            element_type=None if element_type is None else as_element_type(element_type),
            **{part: given[names[part]] for part in definition.properties if part in names},
        )

    is_list = isinstance(definition.results[0][1], VariadicDef)
    signature = inspect.Signature(
        [_SELF, *_with_defaults_last([parameter for parameter, _ in parameters])],
        return_annotation="tuple[XlaValue, ...]" if is_list else "XlaValue",
    )
    example = f"Example: `b.{name}({spelling.example})`."
    text = f"{contract_text(operation)}\n\n{example}"
    return _method(name, call, operation, text, signature)


def _with_defaults_last(parameters: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    """Defaults that a parameter without one comes after are left out."""
    found: list[inspect.Parameter] = []
    for parameter in reversed(parameters):
        is_needed = found and found[-1].default is inspect.Parameter.empty
        if is_needed and found[-1].kind == parameter.kind:
            parameter = parameter.replace(default=inspect.Parameter.empty)
        found.append(parameter)
    return found[::-1]


_OPERANDS: Sequence[tuple[ElementClass, tuple[str, str]]] = (
    (ElementClass.FLOAT, ("x", "y")),
    (ElementClass.INTEGER, ("n", "m")),
    (ElementClass.PRED, ("p", "q")),
)
"""The values of examples, by what an operation takes."""


def _of_elements(name: str, operation: Any, call: Method) -> Method:
    """A method for a function of elements."""
    allowed = operation.contract().elements
    values = next(values for elements, values in _OPERANDS if allowed & elements)
    count = len(operation.get_irdl_definition().operands)
    text = (
        f"{contract_text(operation)}\n\nElements: {allowed.describe()}."
        f" Example: `b.{name}({', '.join(values[:count])})`."
    )
    return _method(name, call, operation, text)


def _unary(name: str, operation: type[XlaOp]) -> Method:
    def call(self: Computations, operand: XlaValue) -> XlaValue:
        return self._append(operation, operand)

    return _of_elements(name, operation, call)


def _binary(name: str, operation: type[XlaOp]) -> Method:
    def call(
        self: Computations,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        return self._append(operation, *self._broadcast_pair(name, lhs, rhs, broadcast_dimensions))

    return _of_elements(name, operation, call)


_ELEMENTWISE = (
    (elementwise.ElementwiseUnaryOp, _unary),
    (elementwise.ElementwiseBinaryOp, _binary),
)

_SIGNS = {"EQ": "=", "NE": "≠", "GE": ">=", "GT": ">", "LE": "<=", "LT": "<"}


def _comparison(name: str, direction: ComparisonDirection, *, total_order: bool) -> Method:
    operation = elementwise.CompareOp

    def call(
        self: Computations,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        pair = self._broadcast_pair(name, lhs, rhs, broadcast_dimensions)
        floats = element_class(pair[0].element_type) == ElementClass.FLOAT
        order = ComparisonType.TOTALORDER if total_order and floats else None
        return self._append(operation, *pair, direction=direction, comparison_type=order)

    order = " in the total order of floats; others have but one order" if total_order else ""
    text = (
        f"Where `lhs {_SIGNS[direction.value]} rhs`{order}. Example: `b.{name}(x, y)`."
        f"\n\n{contract_text(operation)}"
    )
    return _method(name, call, operation, text)


def _methods() -> Iterator[Method]:
    for name, spelling in METHODS.items():
        yield _spelled(name, spelling)
    for operation in operations_of(elementwise):
        name = SHORT_NAMES.get(operation, operation.name.removeprefix("xla."))
        for base, make in _ELEMENTWISE:
            if issubclass(operation, base):
                yield make(f"{name}_" if iskeyword(name) else name, operation)
    for direction in ComparisonDirection:
        name = direction.value.lower()
        yield _comparison(name, direction, total_order=False)
        yield _comparison(f"{name}_total_order", direction, total_order=True)


OperationMethods = type(
    "OperationMethods", (Computations,), {method.__name__: method for method in _methods()}
)
"""The builder's methods that follow from operations."""
