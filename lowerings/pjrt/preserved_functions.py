"""
Functions that JAX or jaxlib would send as formulas.

Where it serializes a program it expands some functions into dozens of operations: square roots and
arc tangents of complex numbers lose the sign of zeros on their cuts, and the logarithm of the gamma
function its digits around its zeros. It leaves composites as they are, which are read as the
functions that they are named for. JAX itself writes sines and cosines of complex numbers as
formulas whose exponentials overflow before they do: those are found by their operations. For floats
of 4 and 8 bits jaxlib has no formulas: functions of CHLO on them compute in f32 and round, as all
of our operations do.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from lowerings.pjrt.interfaces import IR

_OF_COMPLEX = frozenset(("chlo.atan", "stablehlo.sqrt"))
_OF_ALL = frozenset(("chlo.lgamma",))


@contextmanager
def preserved_functions(module: Any) -> Generator[None]:
    """
    Inside, a module of jaxlib has composites, and functions, in the place of formulas; functions of
    small floats are gone for good.
    """
    found: list[Any] = []
    small: list[Any] = []
    formulas: list[tuple[Any, str, Any]] = []

    def note(op: Any) -> Any:
        if op.name.startswith("chlo.") and _has_small_floats(op):
            small.append(op)
        elif op.name in _OF_ALL or (op.name in _OF_COMPLEX and _is_complex(op.results[0].type)):
            found.append(op)
        elif op.name == "stablehlo.select" and _is_complex(op.results[0].type):
            formulas.extend((op, name, z) for name, z in _written_out(op))
        return IR.WalkResult.ADVANCE

    module.operation.walk(note)
    wide = [_computed_in_f32(op) for op in small]
    found += [op for op in wide if op.name in _OF_ALL]
    if not found and not formulas:
        yield
        return
    with module.context:
        undo = [_composite(op, module, number) for number, op in enumerate(found)]
        undo += [_function(*each) for each in formulas]
        try:
            yield
        finally:
            for each in undo:
                each()


def _has_small_floats(op: Any) -> bool:
    elements = [IR.ShapedType(each.type).element_type for each in (*op.operands, *op.results)]
    return all(isinstance(each, IR.FloatType) and each.width < 16 for each in elements)


def _computed_in_f32(op: Any) -> Any:
    """Puts the same function of f32 in the place of one of small floats."""

    def converted(value: Any, type_: Any) -> Any:
        return IR.Operation.create("stablehlo.convert", [type_], [value]).result

    with op.context, op.location, IR.InsertionPoint(op):
        narrow = op.results[0].type
        wide = IR.RankedTensorType.get(IR.RankedTensorType(narrow).shape, IR.F32Type.get())
        operands = [converted(each, wide) for each in op.operands]
        found = IR.Operation.create(op.name, [wide], operands)
        op.results[0].replace_all_uses_with(converted(found.result, narrow))
    op.erase()
    return found


def _is_complex(type_: Any) -> bool:
    return isinstance(IR.ShapedType(type_).element_type, IR.ComplexType)


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


def _written_out(op: Any) -> list[tuple[str, Any]]:
    """The function that a choice of formulas computes, with its argument; none for any other."""
    for name, pattern in _WRITTEN_OUT.items():
        values: dict[str, Any] = {}
        if _matches(op.operands[2], pattern, values):
            return [(name, values["z"])]
    return []


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


def _function(op: Any, name: str, operand: Any) -> Callable[[], None]:
    """Puts a function in the place of what an operation computes; returns what undoes it."""
    with op.location:
        function = IR.Operation.create(
            name, results=[op.results[0].type], operands=[operand], ip=IR.InsertionPoint(op)
        )
    op.results[0].replace_all_uses_with(function.results[0])

    def undo() -> None:
        function.results[0].replace_all_uses_with(op.results[0])
        function.erase()

    return undo


def _composite(op: Any, module: Any, number: int) -> Callable[[], None]:
    """
    Puts a composite in the place of an operation, which becomes its decomposition; returns what
    undoes it.
    """
    type_, symbol = op.results[0].type, f"{op.name}.{number}.preserved"
    with op.location:
        function = IR.Operation.create(
            "func.func",
            attributes={
                "sym_name": IR.StringAttr.get(symbol),
                "sym_visibility": IR.StringAttr.get("private"),
                "function_type": IR.TypeAttr.get(IR.FunctionType.get([type_], [type_])),
            },
            regions=1,
            ip=IR.InsertionPoint(module.body),
        )
        block = function.regions[0].blocks.append(type_)
        end = IR.Operation.create(
            "func.return", operands=[block.arguments[0]], ip=IR.InsertionPoint(block)
        )
        composite = IR.Operation.create(
            "stablehlo.composite",
            results=[type_],
            operands=[op.operands[0]],
            attributes={
                "name": IR.StringAttr.get(op.name),
                "decomposition": IR.FlatSymbolRefAttr.get(symbol),
                "version": IR.IntegerAttr.get(IR.IntegerType.get_signless(32), 1),
            },
            ip=IR.InsertionPoint(op),
        )
    op.results[0].replace_all_uses_with(composite.results[0])
    op.operation.move_before(end)
    op.operands[0] = block.arguments[0]
    end.operands[0] = op.results[0]
    return partial(_put_back, op, composite, function)


def _put_back(op: Any, composite: Any, decomposition: Any) -> None:
    op.operation.move_before(composite)
    op.operands[0] = composite.operands[0]
    composite.results[0].replace_all_uses_with(op.results[0])
    composite.erase()
    decomposition.erase()
