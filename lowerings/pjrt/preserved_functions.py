"""
Functions that jaxlib would send as formulas.

Where it serializes a program it expands some functions into dozens of operations: square roots and
arc tangents of complex numbers lose the sign of zeros on their cuts, and the logarithm of the gamma
function its digits around its zeros. It leaves composites as they are, which are read as the
functions that they are named for.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from lowerings.pjrt.interfaces import IR

_OF_COMPLEX = frozenset(("chlo.atan", "stablehlo.sqrt"))
_OF_ALL = frozenset(("chlo.lgamma",))


@contextmanager
def preserved_functions(module: Any) -> Generator[None]:
    """Inside, a module of jaxlib has composites in the place of such functions."""
    found: list[Any] = []

    def note(op: Any) -> Any:
        if op.name in _OF_ALL or (op.name in _OF_COMPLEX and _is_complex(op.results[0].type)):
            found.append(op)
        return IR.WalkResult.ADVANCE

    module.operation.walk(note)
    if not found:
        yield
        return
    with module.context:
        made = [_composite(op, module, number) for number, op in enumerate(found)]
        try:
            yield
        finally:
            for composite, decomposition in made:
                body = decomposition.regions[0].blocks[0]
                _put(body.operations[0], composite, composite.operands[0])
                decomposition.erase()


def _is_complex(type_: Any) -> bool:
    return isinstance(IR.ShapedType(type_).element_type, IR.ComplexType)


def _composite(op: Any, module: Any, number: int) -> tuple[Any, Any]:
    """A composite in the place of an operation, and its decomposition, which is that operation."""
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
    return composite, function


def _put(op: Any, composite: Any, operand: Any) -> None:
    """Puts the operation of a decomposition back into the place of its composite."""
    op.operation.move_before(composite)
    op.operands[0] = operand
    composite.results[0].replace_all_uses_with(op.results[0])
    composite.erase()
