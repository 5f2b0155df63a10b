"""Building small modules of the `xla` dialect and running them on the reference."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.test_value import create_ssa_value

from xla_dialect.literals.arrays import bits_of, element_type_of, from_numpy, numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops import control_flow
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.reference import run
from xla_dialect.shapes.size_arithmetic import DynamicSize
from xla_dialect.types import BY_NAME, TokenType, array


def numbers(name: str, values: Any) -> np.ndarray:
    """An array of the element type with this HLO name, rounded and wrapped by numpy."""
    with np.errstate(all="ignore"):
        # Left alone, numpy makes floats of integers on both sides of 2^63.
        exact = np.array(values, np.uint64 if name == "u64" else None)
        return exact.astype(numpy_dtype(BY_NAME[name].type))


def constant(name: str, values: Any) -> XlaOp:
    """A constant of the element type with this HLO name."""
    return ConstantOp(value=from_numpy(numbers(name, values)))


def shape(text: str) -> Any:
    """An array type by its HLO spelling: `f32[2,<=3]`; also `token[]`."""
    name, sizes = text.removesuffix("]").split("[")
    if name == "token":
        return TokenType()
    return array(BY_NAME[name].type, [_size(size) for size in sizes.split(",") if size])


def _size(text: str) -> int:
    bound = text.removeprefix("<=")
    return int(text) if bound == text else DynamicSize(bound)


def tuple_of(*types: Any) -> TupleType:
    """The type of a tuple; elements may be spelled as in HLO."""
    return TupleType(tuple(shape(t) if isinstance(t, str) else t for t in types))


def value(type_: Attribute | str) -> SSAValue:
    """A value of a type without an owner, for operations that are only verified."""
    return create_ssa_value(shape(type_) if isinstance(type_, str) else type_)


def type_of(argument: Any) -> Attribute:
    """The type of an argument of `evaluate`; a Python tuple has a tuple type."""
    if isinstance(argument, tuple):
        return tuple_of(*(type_of(element) for element in argument))
    return array(element_type_of(argument.dtype), argument.shape)


Built = XlaOp | SSAValue | Sequence[XlaOp | SSAValue]


def computation(types: Sequence[Attribute | str], build: Callable[..., Built]) -> Region:
    """A region with parameters of these types; `build` takes them and gives what is returned."""
    block = Block(arg_types=[shape(t) if isinstance(t, str) else t for t in types])
    finish(block, build(*block.args), control_flow.ReturnOp.create)
    return Region(block)


def finish(block: Block, built: Built, terminator: Callable[..., Operation]) -> list[Attribute]:
    """Adds what was built, and all that it needs, to a block; returns the result types."""
    parts = built if isinstance(built, Sequence) else [built]
    results = [
        result
        for part in parts
        for result in (part.results if isinstance(part, Operation) else [part])
    ]
    insert(block, [result.owner for result in results if isinstance(result.owner, Operation)])
    block.add_op(terminator(operands=results))
    return [result.type for result in results]


def insert(block: Block, operations: Sequence[Operation]) -> None:
    """Adds operations without a place, after the operations that they use."""
    for operation in operations:
        if operation.parent is not None:
            continue
        used = [o.owner for o in operation.operands if isinstance(o.owner, Operation)]
        for region in operation.regions:
            used += [
                o.owner
                for inner in region.walk()
                for o in inner.operands
                if isinstance(o.owner, Operation) and o.owner.parent is None
            ]
        insert(block, used)
        block.add_op(operation)


def function(name: str, types: Sequence[Attribute | str], build: Callable[..., Built]) -> FuncOp:
    """A function whose parameters have these types."""
    block = Block(arg_types=[shape(t) if isinstance(t, str) else t for t in types])
    results = finish(block, build(*block.args), ReturnOp.create)
    parameters = [argument.type for argument in block.args]
    return FuncOp(name, FunctionType.from_lists(parameters, results), Region(block))


def evaluate(build: Callable[..., Built], *arguments: Any, **options: Any) -> Any:
    """
    What a function of these arguments gives on the reference; the module is verified before.

    The only result itself if there is one, else the tuple of results.
    """
    module = ModuleOp([function("main", [type_of(a) for a in arguments], build)])
    module.verify()
    results = run(module, arguments, **options)
    return results[0] if len(results) == 1 else results


def same(actual: Any, expected: Any) -> None:
    """Equal element types, sizes, and bits, but that all NaNs are equal; tuples by element."""
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple)
        assert len(actual) == len(expected)
        for mine, theirs in zip(actual, expected, strict=True):
            same(mine, theirs)
        return
    assert isinstance(actual, np.ndarray)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    mine, theirs = _parts(actual), _parts(expected)
    nan = _is_nan(theirs)
    if not np.array_equal(_is_nan(mine), nan) or np.any((_bits(mine) != _bits(theirs)) & ~nan):
        raise AssertionError(f"{actual!r} is not {expected!r}")


def _parts(array: np.ndarray) -> np.ndarray:
    """Complex numbers as pairs of floats."""
    array = np.asarray(array, order="C")
    return array[..., None].view(np.real(array).dtype) if array.dtype.kind == "c" else array


def _is_nan(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "biu":
        return np.zeros(array.shape, bool)
    with np.errstate(invalid="ignore"):
        return np.isnan(array.astype(np.float64))


def _bits(array: np.ndarray) -> np.ndarray:
    return bits_of(array)


def blocks_in_pairs(terms: np.ndarray) -> np.ndarray:
    """
    The sum over axis 0 that (RC4) defines for floats: of 16 terms one after the other, of more the
    sum of the most terms that are 16, 32, 64, ..., and of the rest.
    """
    if len(terms) > 16:
        half = 16
        while 2 * half < len(terms):
            half *= 2
        return blocks_in_pairs(terms[:half]) + blocks_in_pairs(terms[half:])
    total = terms[0]
    with np.errstate(all="ignore"):
        for term in terms[1:]:
            total = total + term
    return total
