"""Programs of the loops level for the tests of the LLVM target and of execution."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from lowerings.execution.executable import Executable
from lowerings.execution.loops_compiler import compile_loops_module
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.loops.expand_small_floats import ExpandSmallFloatsPass
from lowerings.rewriting.passes import run_pass
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE
from xla_dialect.types import BY_NAME
from xla_dialect.xdsl.text import MlirParser

AnyArray = np.ndarray[Any, np.dtype[Any]]


@cache
def context() -> Context:
    return make_context()


def parse(text: str) -> ModuleOp:
    """The verified module of a text."""
    module = MlirParser(context(), text).parse_module()
    module.verify()
    return module


def spec(text: str) -> ArraySpec:
    """`f32[2,3]` as a spec."""
    element_type, _, sizes = text.rstrip("]").partition("[")
    return ArraySpec.of(element_type, *map(int, filter(None, sizes.split(","))))


def compile_loops(text: str, parameters: Sequence[str], results: Sequence[str]) -> Executable:
    """Compiles a text whose entry is `@main`; the arrays are given as HLO spells them."""
    signature = Signature(tuple(map(spec, parameters)), tuple(map(spec, results)))
    module = parse(text)
    run_pass(ExpandSmallFloatsPass(), context(), module)
    return compile_loops_module(module, signature)


def run(text: str, arrays: Sequence[AnyArray], results: Sequence[str]) -> tuple[AnyArray, ...]:
    """Compiles and runs a text whose entry is `@main`."""
    parameters = [spell(array) for array in arrays]
    return compile_loops(text, parameters, results)(*arrays)


def spell(array: AnyArray) -> str:
    """`f32[2,3]` for an array."""
    return f"{ELEMENT_OF_DTYPE[array.dtype].name}[{','.join(map(str, array.shape))}]"


def mlir_type(element_type: str) -> str:
    """The signless MLIR type that arrays of an element type have at this level: `u8` is `i8`."""
    name = str(BY_NAME[element_type].type)
    return name.removeprefix("u") if name.startswith("ui") else name


LANES = 8


def elementwise(body: str, arrays: Sequence[AnyArray], result: str, lanes: int | None) -> AnyArray:
    """
    Applies an expression to every element of one-dimensional arrays, a multiple of `LANES` long.

    `body` computes `%r` from `%a0`, `%a1`, ...; in it `{0}`, `{1}`, ... are their types, `{r}` is
    the type of the result, and `{v:i32}` is any other type. With `lanes` they are vectors.
    """
    (found,) = elementwise_each([body], arrays, result, lanes)
    return found


def elementwise_each(
    bodies: Sequence[str], arrays: Sequence[AnyArray], result: str, lanes: int | None
) -> Sequence[AnyArray]:
    """As `elementwise`, for several expressions in one program: to compile takes most of a test."""
    (size,) = arrays[0].shape

    def shaped(element_type: str) -> str:
        return f"vector<{lanes}x{element_type}>" if lanes else element_type

    class OtherType:
        def __format__(self, element_type: str) -> str:
            return shaped(element_type)

    results = [mlir_type(result)] * len(bodies)
    elements = [*(mlir_type(spell(array).partition("[")[0]) for array in arrays), *results]
    memrefs = [f"memref<{size}x{element}>" for element in elements]
    count = len(arrays)
    types = list(map(shaped, elements[:count]))
    expressions = [
        re.sub(r"%r\b", f"%r{n}", body.format(*types, r=shaped(results[n]), v=OtherType()))
        for n, body in enumerate(bodies)
    ]
    vectors = [f", {shaped(element)}" if lanes else "" for element in elements]
    dialect = "vector" if lanes else "memref"
    loads = "\n".join(
        f"  %a{n} = {dialect}.load %p{n}[%i] : {memrefs[n]}{vectors[n]}" for n in range(count)
    )
    stores = "\n".join(
        f"  {dialect}.store %r{n}, %p{count + n}[%i] : {memrefs[-1]}{vectors[-1]}"
        for n in range(len(bodies))
    )
    parameters = ", ".join(f"%p{n}: {memref}" for n, memref in enumerate(memrefs))
    computed = "\n".join(expressions)
    text = f"""
    func.func @main({parameters}) attributes {{xla.entry}} {{
      %zero = arith.constant 0 : index
      %step = arith.constant {lanes or 1} : index
      %end = arith.constant {size} : index
      scf.for %i = %zero to %end step %step {{
      {loads}
        {computed}
        {stores}
      }}
      func.return
    }}
    """
    return run(text, arrays, [f"{result}[{size}]"] * len(bodies))
