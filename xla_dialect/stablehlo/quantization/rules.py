"""The rules of the StableHLO specification on the quantized types of operands and results.

What does not depend on quantization (sizes, dimensions, windows) is checked of the operation on
numbers, or on stored integers, that a quantized one becomes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TupleType
from xdsl.ir import Attribute, Operation

from xla_dialect.quantized_types import Quantization, quantization_of
from xla_dialect.shapes.window import ConvolutionLabels
from xla_dialect.stablehlo.op import StableHloOp, integers_of
from xla_dialect.stablehlo.ops import elementwise, operations_of
from xla_dialect.stablehlo.ops.contraction import ConvolvingOp, DotGeneralOp
from xla_dialect.types import Array, as_array, extents, tuple_elements
from xla_dialect.violations import check, require

Rule: TypeAlias = Callable[[StableHloOp], None]
"""Raises SourceError where types do not go together."""


def operand_types(op: Operation) -> list[Attribute]:
    """The types of the operands."""
    return [operand.type for operand in op.operands]


def result_types(op: Operation) -> list[Attribute]:
    """The types of the results."""
    return [result.type for result in op.results]


def element_of(type_: Attribute) -> Attribute:
    """The element type of an array; any other type itself."""
    found = as_array(type_)
    return type_ if found is None else found.element_type


# Operations that compute with the numbers


def quantizations(op: StableHloOp, types: Sequence[Attribute]) -> list[Quantization]:
    """What each of the types is; an error where one is not quantized."""
    found = [quantization_of(type_) for type_ in types]
    for type_, quantization in zip(types, found, strict=True):
        if quantization is None:
            op.fail(f"{element_of(type_)} among operands and results that are quantized")
    return cast("list[Quantization]", found)


def _per_tensor(op: StableHloOp, found: Sequence[Quantization]) -> None:
    for quantization in found:
        if quantization.dimension is not None:
            op.fail(f"is quantized along dimension {quantization.dimension}, not as a whole")


def _baseline(op: StableHloOp, types: Sequence[Attribute]) -> None:
    """Quantized arrays as a whole, which differ in scales and zero points only."""
    found = quantizations(op, types)
    _per_tensor(op, found)
    for type_, quantization in zip(types, found, strict=True):
        check(
            quantization.baseline == found[0].baseline,
            "{} and {} differ in more than scale and zero point",
            element_of(types[0]),
            element_of(type_),
        )


def _numbers(op: StableHloOp) -> None:
    _baseline(op, [*operand_types(op), *result_types(op)])


def _predicate(op: StableHloOp) -> None:
    _baseline(op, operand_types(op))


def _choice(op: StableHloOp) -> None:
    _baseline(op, [*operand_types(op)[1:], *result_types(op)])


def _sum(op: StableHloOp) -> None:
    found = quantizations(op, [*operand_types(op), *result_types(op)])
    *sides, result = found
    for quantization in sides:
        require(
            quantization.storage == result.storage,
            "C3",
            "storage types {} and {}",
            quantization.storage,
            result.storage,
        )
        require(
            quantization.expressed == result.expressed,
            "C4",
            "expressed types {} and {}",
            quantization.expressed,
            result.expressed,
        )
        if quantization.dimension not in (None, result.dimension):
            label = "C5" if result.dimension is None else "C6" if quantization is sides[0] else "C7"
            op.fail(
                f"({label}) an operand is quantized along dimension {quantization.dimension}, the "
                f"result {_along(result)}"
            )
    if result.dimension is not None and all(each.dimension is None for each in sides):
        op.fail(f"(C5) the result is quantized along {result.dimension}, no operand is")


def _along(quantization: Quantization) -> str:
    found = quantization.dimension
    return "as a whole" if found is None else f"along dimension {found}"


def _quantize(op: StableHloOp) -> None:
    """`uniform_quantize`: of the numbers that the operand has or stands for."""
    (result,) = quantizations(op, result_types(op))
    source = quantization_of(op.operands[0].type)
    expressed = element_of(op.operands[0].type) if source is None else source.expressed
    require(expressed == result.expressed, "C2", "quantizes {} as {}", expressed, result.expressed)


def _dequantize(op: StableHloOp) -> None:
    (source,) = quantizations(op, operand_types(op))
    require(
        element_of(op.results[0].type) == source.expressed,
        "C2",
        "{} becomes {}",
        source.expressed,
        element_of(op.results[0].type),
    )


def dot_lists(op: StableHloOp) -> Mapping[str, Sequence[int]]:
    """Batching and contracting dimensions of both sides, by the names in `#stablehlo.dot`."""
    if op.name == "stablehlo.dot":
        last = len(extents(cast(Array, op.operands[0].type))) - 1
        return {"lhs_contracting_dimensions": [last], "rhs_contracting_dimensions": [0]}
    assert isinstance(op, DotGeneralOp)
    fields = op.dot_dimension_numbers.values()
    return {name: integers_of(value) or () for name, value in fields.items()}


def convolution_labels(op: StableHloOp) -> ConvolutionLabels:
    """Which dimensions of operands and result are batch and features."""
    assert isinstance(op, ConvolvingOp)
    return op.dimension_numbers.data


def _dot(op: StableHloOp) -> None:
    rhs = quantization_of(op.operands[1].type)
    if rhs is not None:
        require(
            not any(rhs.zero_points),
            "C15",
            "the zero points of rhs are {}, not 0",
            list(rhs.zero_points),
        )
        contracted = dot_lists(op).get("rhs_contracting_dimensions", ())
        require(
            rhs.dimension not in contracted,
            "C16",
            "rhs is quantized along dimension {}, which is contracted",
            rhs.dimension,
        )
    _product(op, 14)


def _convolution(op: StableHloOp) -> None:
    labels = convolution_labels(op)
    rhs = quantization_of(op.operands[1].type)
    result = quantization_of(op.results[0].type)
    if not labels.faults():
        features = labels.rhs_order()[0]
        if rhs is not None and rhs.dimension not in (None, features):
            op.fail(f"(C29) rhs is quantized {_along(rhs)}, its output features are {features}")
        features = labels.result_order()[1]
        if result is not None and result.dimension not in (None, features):
            op.fail(f"(C30) the result is quantized {_along(result)}, its features are {features}")
    _product(op, 28)


def _product(op: StableHloOp, label: int) -> None:
    """Both sides and the result are quantized, or only the right side is."""
    types = [*operand_types(op)[:2], *result_types(op)]
    lhs, rhs, result = map(quantization_of, types)
    same_storage, same_numbers, whole, hybrid = (label + i for i in (3, 4, 5, 6))
    if rhs is None or (lhs is None) != (result is None):
        names = ", ".join(str(element_of(type_)) for type_ in types)
        op.fail(f"(C{label}) all are quantized, or only rhs: found {names}")
    if lhs is None or result is None:
        require(
            element_of(types[0]) == rhs.expressed == element_of(types[2]),
            f"C{hybrid}",
            "{} and {} become {}",
            element_of(types[0]),
            rhs.expressed,
            element_of(types[2]),
        )
        return
    _per_tensor(op, [lhs])
    require(
        lhs.storage == rhs.storage,
        f"C{same_storage}",
        "storage types {} and {}",
        lhs.storage,
        rhs.storage,
    )
    require(
        lhs.expressed == rhs.expressed == result.expressed,
        f"C{same_numbers}",
        "expressed types {}, {} and {}",
        lhs.expressed,
        rhs.expressed,
        result.expressed,
    )
    if rhs.dimension is None and result.dimension is not None:
        op.fail(f"(C{whole}) rhs is quantized as a whole, the result {_along(result)}")


# Operations that move stored integers


def _same(op: StableHloOp, types: Sequence[Attribute]) -> None:
    """One element type, whatever it is."""
    elements = [element_of(type_) for type_ in types]
    for element in elements:
        check(
            element == elements[0], "element types {} and {} are not the same", elements[0], element
        )


def _whole(op: StableHloOp, types: Sequence[Attribute]) -> None:
    _per_tensor(op, [found for found in map(quantization_of, types) if found is not None])
    _same(op, types)


def _moved(*operands: int) -> Rule:
    """These operands have the element type of the result; the others say where to."""

    def rule(op: StableHloOp) -> None:
        types = operand_types(op)
        _whole(op, [*(types[i] for i in operands if i < len(types)), *result_types(op)])

    return rule


def _joined(op: StableHloOp) -> None:
    _whole(op, [*operand_types(op), *result_types(op)])


def _each(op: StableHloOp) -> None:
    """Results have the types of the operands, one by one; so have the values of regions."""
    results = result_types(op)
    for pair in zip(operand_types(op), results, strict=False):
        _same(op, pair)
    if op.name == "stablehlo.while":
        _check_parameters(op)
    _check_returns(op, results)


def _each_per_tensor(op: StableHloOp) -> None:
    """The same, and none is quantized along a dimension."""
    _per_tensor(op, [found for found in map(quantization_of, operand_types(op)) if found])
    _each(op)


def _check_parameters(op: StableHloOp) -> None:
    """Regions take the element types of the operands, one by one."""
    for region in op.regions:
        block = region.first_block
        parameters = [] if block is None else [argument.type for argument in block.args]
        for pair in zip(operand_types(op), parameters, strict=False):
            _same(op, pair)


def _mapped(op: StableHloOp) -> None:
    """A computation takes elements of the operands, and returns one of the result."""
    _per_tensor(op, [found for found in map(quantization_of, operand_types(op)) if found])
    _check_parameters(op)
    _check_returns(op, result_types(op))


def _accumulated(op: StableHloOp) -> None:
    """Results and computations have one type, each for its inputs, and for more of its kind."""
    types, results = operand_types(op), result_types(op)
    if op.name == "stablehlo.scatter":  # between inputs and updates there are the indices
        del types[len(results)]
    for i, result in enumerate(results):
        accumulator = quantization_of(result)
        for type_ in types[i :: len(results)]:
            found = quantization_of(type_)
            if (found is None) != (accumulator is None):
                _same(op, [type_, result])
            if found is None or accumulator is None:
                continue
            _per_tensor(op, [found, accumulator])
            check(
                found.expressed == accumulator.expressed,
                "expressed types {} and {}",
                found.expressed,
                accumulator.expressed,
            )
            check(
                found.storage.width.data <= accumulator.storage.width.data,
                "{} is not promotable to {}",
                element_of(type_),
                element_of(result),
            )
    _check_returns(op, results)


def _branches(op: StableHloOp) -> None:
    _check_returns(op, result_types(op))


def _check_returns(op: StableHloOp, results: Sequence[Attribute]) -> None:
    """What regions return, but predicates, has the element types of the results."""
    known = {*map(quantization_of, operand_types(op)), *map(quantization_of, results)}
    for region in op.regions:
        block = region.first_block
        last = None if block is None else block.last_op
        for argument in () if block is None else block.args:
            if quantization_of(argument.type) not in {None, *known}:
                op.fail(f"its region takes {element_of(argument.type)}, which no operand has")
        returned = [] if last is None else operand_types(last)
        if len(returned) == 1:  # of a reduction between processes, which all results have
            returned = returned * len(results)
        if len(returned) == len(results) and any(map(quantization_of, (*returned, *results))):
            for pair in zip(returned, results, strict=True):
                if quantization_of(pair[0]) is not None or op.name not in _WITH_PREDICATES:
                    _same(op, pair)


_WITH_PREDICATES = ("stablehlo.sort", "stablehlo.while", "stablehlo.select_and_scatter")


def _tuple(op: StableHloOp) -> None:
    """The elements of a tuple are what it is made of."""
    whole = (op.results if op.name == "stablehlo.tuple" else op.operands)[0].type
    elements = tuple_elements(whole) if isinstance(whole, TupleType) else None
    if op.name == "stablehlo.tuple" and elements is not None:
        for pair in zip(elements, operand_types(op), strict=False):
            _same(op, pair)
    elif elements is not None:
        place = integers_of_entry(op, "index")
        if place is not None and 0 <= place < len(elements):
            _same(op, [elements[place], op.results[0].type])


def integers_of_entry(op: StableHloOp, name: str) -> int | None:
    """An integer among the properties, which stays there."""
    value = op.properties.get(name, op.attributes.get(name))
    number = getattr(value, "value", None)
    return None if number is None else cast(int, number.data)


def _dimensions(op: StableHloOp, name: str) -> Sequence[int]:
    value = op.properties.get(name, op.attributes.get(name))
    return () if value is None else integers_of(value) or ()


def _shaped(op: StableHloOp) -> tuple[Quantization, Quantization, Array, Array]:
    """Operand and result of an operation that changes the shape only."""
    types = [op.operands[0].type, op.results[0].type]
    source, result = quantizations(op, types)
    if replace(source, dimension=None) != replace(result, dimension=None):
        stretched = op.name in _BROADCASTS and source.dimension is not None
        if not stretched or source.baseline.along(None) != result.baseline.along(None):
            op.fail(f"(C1) {element_of(types[0])} becomes {element_of(types[1])}")
    if (source.dimension is None) != (result.dimension is None):
        op.fail(f"(C1) {element_of(types[0])} becomes {element_of(types[1])}")
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
    order = _dimensions(op, "permutation")
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
    places = _dimensions(op, "broadcast_dimensions")
    if source.dimension is None or source.dimension >= len(places):
        return
    require(
        places[source.dimension] == result.dimension,
        "C6",
        "dimension {} becomes {}",
        source.dimension,
        places[source.dimension],
    )
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
    **_named(_predicate, "compare", "is_finite"),
    **_named(_choice, "select"),
    **_named(_sum, "add"),
    **_named(_dot, "dot", "dot_general"),
    **_named(_convolution, "convolution", "dynamic_conv"),
}
"""Operations that compute with the numbers that operands stand for."""

STORED: Mapping[str, Rule] = {
    **_named(_joined, "concatenate"),
    **_named(_moved(0), "broadcast", "collective_broadcast", "collective_permute"),
    **_named(_moved(0), "dynamic_gather", "dynamic_slice", "gather", "real_dynamic_slice"),
    **_named(_moved(0), "reverse", "set_dimension_size", "slice"),
    **_named(_moved(0, 1), "dynamic_pad", "dynamic_update_slice", "pad"),
    **_named(_each, "sort", "while"),
    **_named(_each_per_tensor, "all_gather", "all_reduce", "all_to_all", "optimization_barrier"),
    **_named(_each_per_tensor, "reduce_scatter"),
    **_named(_accumulated, "reduce", "reduce_window", "scatter"),
    **_named(_moved(0, 1, 2), "select_and_scatter"),
    **_named(_branches, "case", "if"),
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
    """Raises SourceError where an operation has quantized types that do not go together."""
    rule = NUMBERS.get(op.name) or STORED.get(op.name) or CONVERSIONS.get(op.name)
    if rule is None:
        op.fail("takes and returns no quantized arrays")
    rule(op)
