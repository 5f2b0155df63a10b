"""The rules of the StableHLO specification on the quantized types of operands and results.

What does not depend on quantization (sizes, dimensions, windows) is checked of the operation on
numbers, or on stored integers, that a quantized one becomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TupleType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import decode
from xla_dialect.quantized_types import Quantization, quantization_of
from xla_dialect.shapes.window import ConvolutionLabels
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops import elementwise, operations_of
from xla_dialect.stablehlo.ops.contraction import ConvolvingOp
from xla_dialect.types import Array, as_array, extents, tuple_elements
from xla_dialect.violations import check, require

Rule: TypeAlias = Callable[[StableHloOp], None]
"""Raises VerifyException where types do not go together."""


def element_of(type_: Attribute) -> Attribute:
    """The element type of an array; any other type itself."""
    found = as_array(type_)
    return type_ if found is None else found.element_type


def quantizations(types: Sequence[Attribute]) -> list[Quantization]:
    """What each of the types is; raises VerifyException where one is not quantized."""
    found = list(map(quantization_of, types))
    for type_, quantization in zip(types, found, strict=True):
        among = "{} among operands and results that are quantized"
        check(quantization is not None, among, element_of(type_))
    return cast("list[Quantization]", found)


def _check_per_tensor(types: Iterable[Attribute]) -> None:
    """No array is quantized along a dimension."""
    for found in map(quantization_of, types):
        dimension = None if found is None else found.dimension
        check(dimension is None, "is quantized along dimension {}, not as a whole", str(dimension))


def _check_same(types: Sequence[Attribute]) -> None:
    """One element type, whatever it is."""
    first, *others = map(element_of, types)
    for other in others:
        check(other == first, "element types {} and {} are not the same", first, other)


def _require_one(label: str, name: str, *found: Quantization) -> None:
    """Quantizations have the same type of this name, `storage` or `expressed`."""
    *types, last = (str(getattr(each, name)) for each in found)
    require({*types} == {last}, label, "{} types {} and {}", name, ", ".join(types), last)


def _along(quantization: Quantization) -> str:
    found = quantization.dimension
    return "as a whole" if found is None else f"along dimension {found}"


# Operations that compute with the numbers


def _baseline(start: int = 0, stop: int | None = None) -> Rule:
    """
    Of operands and results, those in a range are quantized as a whole, and differ in scales and
    zero points only.
    """

    def rule(op: StableHloOp) -> None:
        types = [*op.operand_types, *op.result_types][start:stop]
        found = quantizations(types)
        _check_per_tensor(types)
        for type_, quantization in zip(types, found, strict=True):
            check(
                quantization.baseline == found[0].baseline,
                "{} and {} differ in more than scale and zero point",
                element_of(types[0]),
                element_of(type_),
            )

    return rule


def _sum(op: StableHloOp) -> None:
    *sides, result = quantizations([*op.operand_types, *op.result_types])
    for label, side in zip(("C6", "C7"), sides, strict=True):
        _require_one("C3", "storage", side, result)
        _require_one("C4", "expressed", side, result)
        require(
            side.dimension in (None, result.dimension),
            "C5" if result.dimension is None else label,
            "an operand is quantized {}, the result {}",
            _along(side),
            _along(result),
        )
    require(
        result.dimension is None or any(side.dimension is not None for side in sides),
        "C5",
        "the result is quantized along {}, no operand is",
        result.dimension,
    )


def _quantize(op: StableHloOp) -> None:
    """`uniform_quantize`: of the numbers that the operand has or stands for."""
    (result,) = quantizations(op.result_types)
    (type_,) = op.operand_types
    source = quantization_of(type_)
    expressed = element_of(type_) if source is None else source.expressed
    require(expressed == result.expressed, "C2", "quantizes {} as {}", expressed, result.expressed)


def _dequantize(op: StableHloOp) -> None:
    (source,), (result,) = quantizations(op.operand_types), map(element_of, op.result_types)
    require(result == source.expressed, "C2", "{} becomes {}", source.expressed, result)


def dot_lists(op: StableHloOp) -> Mapping[str, Sequence[int]]:
    """Batching and contracting dimensions of both sides, by their names in `xla.dot`."""
    return {name: decode(each) for name, each in op.xla_properties(op.operand_types).items()}


def convolution_labels(op: StableHloOp) -> ConvolutionLabels:
    """Which dimensions of operands and result are batch and features."""
    assert isinstance(op, ConvolvingOp)
    return op.dimension_numbers.data


def _dot(op: StableHloOp) -> None:
    rhs = quantization_of(op.operand_types[1])
    if rhs is not None:
        zero_points = list(rhs.zero_points)
        require(not any(zero_points), "C15", "the zero points of rhs are {}, not 0", zero_points)
        require(
            rhs.dimension not in dot_lists(op)["rhs_contracting_dims"],
            "C16",
            "rhs is quantized along dimension {}, which is contracted",
            rhs.dimension,
        )
    _check_product(op, 14)


def _convolution(op: StableHloOp) -> None:
    labels = convolution_labels(op)
    for label, name, type_, features in (
        ()
        if labels.faults()
        else (
            ("C29", "rhs", op.operand_types[1], labels.rhs_order()[0]),
            ("C30", "the result", op.result_types[0], labels.result_order()[1]),
        )
    ):
        found = quantization_of(type_)
        if found is not None:
            text = "{} is quantized {}, its features are {}"
            own = found.dimension in (None, features)
            require(own, label, text, name, _along(found), features)
    _check_product(op, 28)


def _check_product(op: StableHloOp, label: int) -> None:
    """Both sides and the result are quantized, or only the right side is."""
    types = [*op.operand_types[:2], *op.result_types]
    lhs, rhs, result = map(quantization_of, types)
    same_storage, same_numbers, whole, hybrid = (f"C{label + i}" for i in (3, 4, 5, 6))
    elements = list(map(element_of, types))
    require(
        rhs is not None and (lhs is None) == (result is None),
        f"C{label}",
        "all are quantized, or only rhs: found {}",
        ", ".join(map(str, elements)),
    )
    assert rhs is not None
    if lhs is None or result is None:
        one = elements[0] == rhs.expressed == elements[2]
        require(one, hybrid, "{} and {} become {}", elements[0], rhs.expressed, elements[2])
        return
    _check_per_tensor(types[:1])
    _require_one(same_storage, "storage", lhs, rhs)
    _require_one(same_numbers, "expressed", lhs, rhs, result)
    require(
        rhs.dimension is not None or result.dimension is None,
        whole,
        "rhs is quantized as a whole, the result {}",
        _along(result),
    )


# Operations that move stored integers


def _moved(*operands: int) -> Rule:
    """These operands, or all, have the element type of the result; the others say where to."""

    def rule(op: StableHloOp) -> None:
        types = op.operand_types
        chosen = [types[i] for i in operands if i < len(types)] if operands else types
        _check_per_tensor([*chosen, *op.result_types])
        _check_same([*chosen, *op.result_types])

    return rule


def _each(op: StableHloOp) -> None:
    """Results have the types of the operands, one by one; so have the values of regions."""
    for pair in zip(op.operand_types, op.result_types, strict=False):
        _check_same(pair)
    if op.name == "stablehlo.while":
        _check_parameters(op)
    _check_returns(op)


def _each_per_tensor(op: StableHloOp) -> None:
    """The same, and none is quantized along a dimension."""
    _check_per_tensor(op.operand_types)
    _each(op)


def _check_parameters(op: StableHloOp) -> None:
    """Regions take the element types of the operands, one by one."""
    for region in op.regions:
        block = region.first_block
        for pair in zip(op.operand_types, () if block is None else block.arg_types, strict=False):
            _check_same(pair)


def _mapped(op: StableHloOp) -> None:
    """A computation takes elements of the operands, and returns one of the result."""
    _check_per_tensor(op.operand_types)
    _check_parameters(op)
    _check_returns(op)


def _accumulated(op: StableHloOp) -> None:
    """Results and computations have one type, each for its inputs, and for more of its kind."""
    types, results = list(op.operand_types), op.result_types
    if op.name == "stablehlo.scatter":  # between inputs and updates there are the indices
        del types[len(results)]
    for i, result in enumerate(results):
        accumulator = quantization_of(result)
        for type_ in types[i :: len(results)]:
            found = quantization_of(type_)
            if found is None or accumulator is None:
                if found is not accumulator:
                    _check_same([type_, result])
                continue
            _check_per_tensor([type_, result])
            numbers = found.expressed, accumulator.expressed
            check(numbers[0] == numbers[1], "expressed types {} and {}", *numbers)
            check(
                found.storage.width.data <= accumulator.storage.width.data,
                "{} is not promotable to {}",
                element_of(type_),
                element_of(result),
            )
    _check_returns(op)


def _check_returns(op: StableHloOp) -> None:
    """What regions return, but predicates, has the element types of the results."""
    results = list(op.result_types)
    known = {None, *map(quantization_of, (*op.operand_types, *results))}
    for block in (region.first_block for region in op.regions):
        if block is None:
            continue
        for type_ in block.arg_types:
            taken = "its region takes {}, which no operand has"
            check(quantization_of(type_) in known, taken, element_of(type_))
        returned = () if block.last_op is None else block.last_op.operand_types
        if len(returned) == 1:  # of a reduction between processes, which all results have
            returned = [*returned] * len(results)
        if len(returned) == len(results) and any(map(quantization_of, (*returned, *results))):
            for pair in zip(returned, results, strict=True):
                if quantization_of(pair[0]) is not None or op.name not in _WITH_PREDICATES:
                    _check_same(pair)


_WITH_PREDICATES = ("stablehlo.sort", "stablehlo.while", "stablehlo.select_and_scatter")


def _tuple(op: StableHloOp) -> None:
    """The elements of a tuple are what it is made of."""
    is_tuple = op.name == "stablehlo.tuple"
    whole, parts = op.operand_types[0], op.result_types
    if is_tuple:
        whole, parts = op.result_types[0], op.operand_types
    elements = (tuple_elements(whole) or ()) if isinstance(whole, TupleType) else ()
    place = 0 if is_tuple else decode(op.properties.get("index"))
    for pair in zip(elements[place:] if place >= 0 else (), parts, strict=False):
        _check_same(pair)


def _shaped(op: StableHloOp) -> tuple[Quantization, Quantization, Array, Array]:
    """Operand and result of an operation that changes the shape only."""
    types = [op.operand_types[0], op.result_types[0]]
    source, result = quantizations(types)
    one = replace(source, dimension=None) == replace(result, dimension=None)
    if op.name in _BROADCASTS and source.dimension is not None:
        one = source.baseline.along(None) == result.baseline.along(None)
    require(
        one and (source.dimension is None) == (result.dimension is None),
        "C1",
        "{} becomes {}",
        *map(element_of, types),
    )
    return source, result, cast(Array, types[0]), cast(Array, types[1])


_BROADCASTS = ("stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim")


def _reshape(op: StableHloOp) -> None:
    source, result, before, after = _shaped(op)
    if source.dimension is None or result.dimension is None:
        return
    d, e = source.dimension, result.dimension
    sizes, others = extents(before), extents(after)
    for part, other in ((sizes[:d], others[:e]), (sizes[d + 1 :], others[e + 1 :])):
        unknown = DYNAMIC_INDEX in (*part, *other)
        require(
            unknown or prod(part) == prod(other),
            "C3",
            "dimension {} of {} becomes {} of {}: sizes around differ",
            d,
            before,
            e,
            after,
        )


def _transpose(op: StableHloOp) -> None:
    source, result, _, _ = _shaped(op)
    order = decode(op.properties.get("permutation"))
    if source.dimension is None or result.dimension is None:
        return
    require(
        result.dimension >= len(order) or order[result.dimension] == source.dimension,
        "C4",
        "quantized along {}, after the permutation {} along {}",
        source.dimension,
        list(order),
        result.dimension,
    )


def _broadcast(op: StableHloOp) -> None:
    source, result, before, _ = _shaped(op)
    places = decode(op.properties.get("broadcast_dimensions"))
    if source.dimension is None or source.dimension >= len(places):
        return
    place = places[source.dimension]
    require(place == result.dimension, "C6", "dimension {} becomes {}", source.dimension, place)
    one = extents(before)[source.dimension] == 1
    for name in ("scales", "zero_points"):
        mine, theirs = getattr(source, name), getattr(result, name)
        require(
            theirs == (mine * len(theirs) if one else mine),
            "C6",
            "{} {} become {}",
            name,
            list(mine),
            list(theirs),
        )


def _nothing(op: StableHloOp) -> None:
    """What the operation on stored integers requires, is all."""


def _named(rule: Rule, *names: str) -> Mapping[str, Rule]:
    return {f"stablehlo.{name}": rule for name in names}


_numbers = _baseline()

NUMBERS: Mapping[str, Rule] = {
    **{
        op.name: _numbers
        for op in operations_of(elementwise)
        if issubclass(op, elementwise.AccurateUnaryOp)
    },
    **_named(_numbers, "abs", "atan2", "ceil", "cholesky", "clamp", "divide", "floor", "maximum"),
    **_named(_numbers, "minimum", "multiply", "negate", "power", "reduce_precision", "remainder"),
    **_named(_numbers, "round_nearest_afz", "round_nearest_even", "sign", "subtract"),
    **_named(_numbers, "batch_norm_grad", "batch_norm_inference", "batch_norm_training"),
    **_named(_numbers, "iota", "triangular_solve"),
    **_named(_baseline(stop=-1), "compare", "is_finite"),
    **_named(_baseline(start=1), "select"),
    **_named(_sum, "add"),
    **_named(_dot, "dot", "dot_general"),
    **_named(_convolution, "convolution", "dynamic_conv"),
}
"""Operations that compute with the numbers that operands stand for."""

STORED: Mapping[str, Rule] = {
    **_named(_moved(), "concatenate"),
    **_named(_moved(0), "broadcast", "collective_broadcast", "collective_permute"),
    **_named(_moved(0), "dynamic_gather", "dynamic_slice", "gather", "real_dynamic_slice"),
    **_named(_moved(0), "reverse", "set_dimension_size", "slice"),
    **_named(_moved(0, 1), "dynamic_pad", "dynamic_update_slice", "pad"),
    **_named(_each, "sort", "while"),
    **_named(_each_per_tensor, "all_gather", "all_reduce", "all_to_all", "optimization_barrier"),
    **_named(_each_per_tensor, "reduce_scatter"),
    **_named(_accumulated, "reduce", "reduce_window", "scatter"),
    **_named(_moved(0, 1, 2), "select_and_scatter"),
    **_named(_check_returns, "case", "if"),
    **_named(_mapped, "map"),
    **_named(_tuple, "get_tuple_element", "tuple"),
    **_named(_reshape, "dynamic_reshape", "reshape"),
    **_named(_transpose, "transpose"),
    **_named(_broadcast, *(name.removeprefix("stablehlo.") for name in _BROADCASTS)),
    **_named(_nothing, "bitcast_convert", "composite", "constant", "custom_call"),
    **_named(_nothing, "get_dimension_size", "return"),
}
"""Operations that take and return stored integers as they are, by the rule of their types."""

CONVERSIONS: Mapping[str, Rule] = {
    "stablehlo.uniform_quantize": _quantize,
    "stablehlo.uniform_dequantize": _dequantize,
}
"""Between stored integers and numbers."""


def check_quantized(op: StableHloOp) -> None:
    """Raises VerifyException where an operation has quantized types that do not go together."""
    rule = NUMBERS.get(op.name) or STORED.get(op.name) or CONVERSIONS.get(op.name)
    if rule is None:
        raise VerifyException("takes and returns no quantized arrays")
    rule(op)
