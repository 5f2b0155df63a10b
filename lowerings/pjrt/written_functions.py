"""
Functions that JAX writes as formulas.

Those of sines and cosines of complex numbers have exponentials that overflow before the functions
do.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from lowerings.pjrt.interfaces import IR, operations


def write_functions(module: Any) -> None:
    """Puts the functions in the place of the formulas in a module of jaxlib."""
    for op in list(operations(module.operation)):
        if op.name == "stablehlo.select":
            for name, pattern in _WRITTEN_OUT.items():
                values: dict[str, Any] = {}
                if _matches(op.operands[2], pattern, values):
                    with op.location:
                        function = IR.Operation.create(
                            name, [op.results[0].type], [values["z"]], ip=IR.InsertionPoint(op)
                        )
                    op.results[0].replace_all_uses_with(function.results[0])


_Pattern: TypeAlias = str | float | tuple[Any, ...]
"""A name for any value, always the same; a number in all elements; or an operation and operands."""

_REAL, _IMAGINARY = ("real", "z"), ("imag", "z")
_GROWTH = "exponential_minus_one", _IMAGINARY
_DECAY = "exponential_minus_one", ("negate", _IMAGINARY)
_SINH = "divide", ("subtract", _GROWTH, _DECAY), 2.0
_COSH = "divide", ("add", ("add", _GROWTH, _DECAY), 2.0), 2.0
_SINE, _COSINE = ("sine", _REAL), ("cosine", _REAL)
_WRITTEN_OUT: dict[str, _Pattern] = {
    "stablehlo.sine": ("complex", ("multiply", _SINE, _COSH), ("multiply", _COSINE, _SINH)),
    "stablehlo.cosine": (
        *("complex", ("multiply", _COSINE, _COSH)),
        ("multiply", ("negate", _SINE), _SINH),
    ),
}
"""What JAX writes for a function of z, where the real part of z is not 0."""


def _matches(value: Any, pattern: _Pattern, values: dict[str, Any]) -> bool:
    if isinstance(pattern, str):
        return values.setdefault(pattern, value) == value
    if not isinstance(value, IR.OpResult):
        return False
    op = value.owner
    if isinstance(pattern, float | int):
        if op.name == "stablehlo.broadcast_in_dim":
            return _matches(op.operands[0], pattern, values)
        return op.name == "stablehlo.constant" and _is_number(op.attributes["value"], pattern)
    name, *operands = pattern
    return op.name == f"stablehlo.{name}" and all(
        _matches(operand, each, values) for operand, each in zip(op.operands, operands, strict=True)
    )


def _is_number(attribute: Any, number: float) -> bool:
    is_splat = isinstance(attribute, IR.DenseElementsAttr) and attribute.is_splat
    return is_splat and attribute.get_splat_value().value == number
