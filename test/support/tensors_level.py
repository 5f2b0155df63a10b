"""Lowers small programs to the tensors level and compares what they compute with the reference."""

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from small_programs import Built, function, same, type_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.compilation import compile_module
from lowerings.driver.context import make_context
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.expand.xla_expand_bitcast import XlaExpandBitcastPass
from lowerings.expand.xla_expand_compound import XlaExpandCompoundPass
from lowerings.interpreter import InterpretedProgram
from lowerings.simplify.xla_flatten_tuples import XlaFlattenTuplesPass
from lowerings.simplify.xla_inline import XlaInlinePass
from lowerings.tensors.linalg_cse import LinalgCsePass
from lowerings.tensors.linalg_fold_reshapes_by_expansion import LinalgFoldReshapesByExpansionPass
from lowerings.tensors.linalg_fold_transposes import LinalgFoldTransposesPass
from lowerings.tensors.linalg_fuse_producers_and_siblings import (
    LinalgFuseProducersAndSiblingsPass,
)
from lowerings.xla_to_linalg import ConvertXlaToLinalgPass
from lowerings.xla_to_scf import ConvertXlaToScfPass
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, flatten_results
from xla_dialect.reference import run
from xla_dialect.types import ElementClass

AnyArray = np.ndarray[Any, np.dtype[Any]]

TO_TENSORS: tuple[ModulePass, ...] = (
    XlaInlinePass(),
    XlaFlattenTuplesPass(),
    XlaExpandCompoundPass(),
    XlaExpandBitcastPass(),
    ConvertXlaToScfPass(),
    ConvertXlaToLinalgPass(),
)

FUSION: tuple[ModulePass, ...] = (
    LinalgCsePass(),
    LinalgFoldReshapesByExpansionPass(),
    LinalgFoldTransposesPass(),
    LinalgFuseProducersAndSiblingsPass(),
)

EXACT = ElementClass.PRED | ElementClass.INTEGER
"""The element types whose results have to be the same bits whatever a test allows."""


def module_of(build: Callable[..., Built], arguments: Sequence[Any]) -> ModuleOp:
    """The module of one function `main` of these arguments."""
    return ModuleOp([function("main", [type_of(a) for a in arguments], build)])


def lower(module: ModuleOp, passes: Sequence[ModulePass] = TO_TENSORS) -> None:
    """Runs the passes and verifies the module."""
    context = make_context()
    for module_pass in passes:
        module_pass.apply(context, module)
    module.verify()


def interpreted(
    module: ModuleOp, arguments: Sequence[AnyArray], like: Sequence[AnyArray]
) -> Sequence[AnyArray]:
    """What a module of the tensors level computes; results have the element types of `like`."""
    parameters, results = (
        tuple(
            ArraySpec.of(ELEMENT_OF_DTYPE[a.dtype].name, *a.shape) for a in map(np.asarray, arrays)
        )
        for arrays in (arguments, like)
    )
    return InterpretedProgram(module, signature=Signature(parameters, results))(*arguments)


def leaves(arguments: Sequence[Any]) -> list[Any]:
    """The arrays of arguments, tuples taken apart."""
    found: list[Any] = []
    for argument in arguments:
        found.extend(leaves(argument) if isinstance(argument, tuple) else [argument])
    return found


def check(build: Callable[..., Built], *arguments: Any, ulps: float = 0) -> None:
    """
    The tensors level, before and after fusion, computes what the reference does.

    Integers and, unless `ulps` is given, floats have to be the same bits.
    """
    module = module_of(build, arguments)
    module.verify()
    expected = flatten_results(run(module, arguments))
    lower(module)
    compare(interpreted(module, leaves(arguments), expected), expected, ulps)
    lower(module, FUSION)
    compare(interpreted(module, leaves(arguments), expected), expected, ulps)


def compare(found: Sequence[AnyArray], expected: Sequence[AnyArray], ulps: float) -> None:
    """Compares results one by one; NaN equals NaN, zeros have their sign."""
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        if not ulps or ELEMENT_OF_DTYPE[theirs.dtype].element_class & EXACT:
            same(mine, theirs)
        else:
            within(mine, theirs, ulps)


def within(found: AnyArray, expected: AnyArray, ulps: float) -> None:
    """
    Every number is at most so many units in the last place away; infinities and NaN are equal.

    The distance of complex numbers is measured by the modulus.
    """
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    part = np.real(expected).dtype
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    mine, theirs = found.astype(wide), expected.astype(wide)
    regular = np.isfinite(theirs) & np.isfinite(mine)
    np.testing.assert_array_equal(mine[~regular], theirs[~regular])
    info = ml_dtypes.finfo(part)
    with np.errstate(all="ignore"):
        exponents = np.floor(np.log2(np.maximum(np.abs(theirs), float(info.tiny))))
        unit = np.exp2(exponents) * float(info.eps)
        distance = np.abs(mine - theirs) / unit
    worst = np.where(regular, distance, 0)
    assert not worst.size or worst.max() <= ulps, (
        f"{worst.max()} ulp: {found.ravel()[worst.argmax()]} for {expected.ravel()[worst.argmax()]}"
    )


def natively(build: Callable[..., Built], *arguments: Any) -> Sequence[AnyArray]:
    """What machine code computes."""
    module = module_of(build, arguments)
    module.verify()
    return compile_module(module)(*leaves(arguments))


def check_natively(build: Callable[..., Built], *arguments: Any, ulps: float = 0) -> None:
    """Machine code computes what the reference does; compared as by `check`."""
    expected = flatten_results(run(module_of(build, arguments), arguments))
    for mine, theirs in zip(natively(build, *arguments), expected, strict=True):
        if ulps and theirs.dtype.kind not in "biu":
            within(mine, theirs, ulps)
        else:
            same(mine, theirs)
