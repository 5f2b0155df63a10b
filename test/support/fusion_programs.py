"""Small programs at the tensors level, as text: what fusion decides on, and what is decided."""

from collections.abc import Mapping
from typing import Any

_BODIES = {
    "move": "linalg.yield %a0 : f32",
    "negf": "%r = arith.negf %a0 : f32\n linalg.yield %r : f32",
    "exp": "%r = math.exp %a0 : f32\n linalg.yield %r : f32",
    "add": "%r = arith.addf %a0, %a1 : f32\n linalg.yield %r : f32",
    "sum": "%r = arith.addf %o, %a0 : f32\n linalg.yield %r : f32",
    "product": "%p = arith.mulf %a0, %a1 : f32\n%r = arith.addf %o, %p : f32\n linalg.yield %r : f32",
}
_LOOPS = {"p": '"parallel"', "r": '"reduction"'}


def tensor(shape: str) -> str:
    return f"tensor<{shape}xf32>" if shape else "tensor<f32>"


def generic(
    name: str,
    body: str,
    inputs: Mapping[str, tuple[str, str]],
    output: tuple[str, str],
    loops: str,
    attributes: str = "",
) -> str:
    """A `linalg.generic`; inputs by name, and the output, have a shape and where they are read."""
    domain = ", ".join(f"d{i}" for i in range(len(loops)))
    maps = [f"affine_map<({domain}) -> ({at})>" for _, at in (*inputs.values(), output)]
    arguments = [*(f"%a{i}: f32" for i in range(len(inputs))), "%o: f32"]
    types = ", ".join(tensor(shape) for shape, _ in inputs.values())
    result = tensor(output[0])
    return f"""%{name} = linalg.generic {{indexing_maps = [{", ".join(maps)}],
    iterator_types = [{", ".join(_LOOPS[kind] for kind in loops)}]}}
    ins({", ".join(f"%{value}" for value in inputs)} : {types}) outs(%to{output[0]} : {result})
    attrs = {{{attributes}}} {{
^bb0({", ".join(arguments)}):
  {_BODIES.get(body, body)}
}} -> {result}
"""


def elementwise(name: str, body: str, *inputs: str, size: str = "8", attributes: str = "") -> str:
    """An elementwise operation on vectors."""
    read = dict.fromkeys(inputs, (size, "d0"))
    return generic(name, body, read, (size, "d0"), "p", attributes)


def program(*operations: str, results: Mapping[str, str] | None = None, **shapes: Any) -> str:
    """A function of `shapes` and of the tensors that operations write into; results have shapes."""
    into = {f"to{shape}": shape for shape in ("", "4", "8", "4x4", "4x8", "8x4")}
    arguments = ", ".join(f"%{name}: {tensor(shape)}" for name, shape in {**shapes, **into}.items())
    names = results or {}
    types = ", ".join(tensor(shape) for shape in names.values())
    return f"""func.func @main({arguments}, %i: index) -> ({types}) {{
{"".join(operations)}func.return {", ".join(f"%{name}" for name in names)} : {types}
}}
"""
