"""
Runs modules of the tensors level in numpy, one array operation per scalar operation.

It is strict where the machine would be free: an index outside of a tensor is an AssertionError.
"""

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from scalar_evaluation import SCALARS, Array, dtype_of, extract, wrap
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from xla_dialect.reference.literal import ELEMENT_OF_DTYPE
from xla_dialect.types import ElementClass

Environment = dict[SSAValue, Any]


class Evaluator:
    """Runs the functions of one module."""

    def __init__(self, module: ModuleOp):
        self.functions: dict[str, Any] = {
            op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)
        }

    def run(self, name: str, arguments: Sequence[Any]) -> list[Array]:
        """The results of a function; arguments have the dtypes of the signless types."""
        block = self.functions[name].body.block
        environment: Environment = dict(zip(block.args, arguments, strict=True))
        with np.errstate(all="ignore"):
            return [np.asarray(v) for v in self.run_block(block, environment)]

    def run_block(self, block: Block, environment: Environment) -> list[Any]:
        """The operands of the terminator."""
        for op in block.ops:
            if op is block.last_op:
                return [environment[o] for o in op.operands]
            self.run_operation(op, environment)
        raise AssertionError("a block without terminator")

    def run_operation(self, op: Any, environment: Environment) -> None:
        operands = [environment[o] for o in op.operands]
        structured = STRUCTURED.get(op.name)
        if structured is not None:
            results = structured(self, op, operands, environment)
        else:
            results = [SCALARS[op.name](op, *operands)]
        for result, value in zip(op.results, results, strict=True):
            environment[result] = value


# Operations on whole tensors


def evaluate(expression: AffineExpr, dimensions: Sequence[Any]) -> Any:
    """An affine expression on arrays of positions."""
    match expression:
        case AffineDimExpr():
            return dimensions[expression.position]
        case AffineConstantExpr():
            return expression.value
        case AffineBinaryOpExpr():
            lhs, rhs = evaluate(expression.lhs, dimensions), evaluate(expression.rhs, dimensions)
            match expression.kind:
                case AffineBinaryOpKind.Add:
                    return lhs + rhs
                case AffineBinaryOpKind.Mul:
                    return lhs * rhs
                case AffineBinaryOpKind.FloorDiv:
                    return lhs // rhs
                case AffineBinaryOpKind.Mod:
                    return lhs % rhs
                case AffineBinaryOpKind.CeilDiv:
                    return -(-lhs // rhs)
    raise AssertionError(f"{expression} is not affine in the dimensions")


def loop_sizes(op: Any, operands: Sequence[Array]) -> list[int]:
    """The sizes of the iteration space: of the dimensions that a loop indexes alone."""
    maps = [m.data for m in op.properties["indexing_maps"].data]
    sizes: dict[int, int] = {}
    for map_, operand in zip(maps, operands, strict=True):
        for expression, size in zip(map_.results, np.shape(operand), strict=True):
            if isinstance(expression, AffineDimExpr):
                assert sizes.setdefault(expression.position, size) == size
    return [sizes[d] for d in range(maps[0].num_dims if maps else 0)]


def generic(
    evaluator: Evaluator, op: Any, operands: Sequence[Array], environment: Environment
) -> list[Array]:
    """Parallel loops as array operations; reduction loops one after the other, row-major."""
    maps = [m.data for m in op.properties["indexing_maps"].data]
    kinds = [str(i.data) for i in op.properties["iterator_types"].data]
    sizes = loop_sizes(op, operands)
    parallel = [d for d, kind in enumerate(kinds) if kind == "parallel"]
    reduction = [d for d, kind in enumerate(kinds) if kind == "reduction"]
    shape = tuple(sizes[d] for d in parallel)
    positions: list[Any] = [None] * len(kinds)
    for axis, d in enumerate(parallel):
        positions[d] = np.arange(sizes[d]).reshape(
            [-1 if a == axis else 1 for a in range(len(shape))]
        )
    results = [np.array(o) for o in operands[len(operands) - len(op.results) :]]
    current = [*operands[: len(operands) - len(results)], *results]
    body = op.regions[0].block
    if 0 in shape:
        return results
    for step in product(*(range(sizes[d]) for d in reduction)):
        for d, position in zip(reduction, step, strict=True):
            positions[d] = position
        indices = [[evaluate(e, positions) for e in m.results] for m in maps]
        inner: Environment = dict(environment)
        for argument, operand, index in zip(body.args, current, indices, strict=True):
            inner[argument] = extract(op, np.asarray(operand), *index)
        yielded = run_body(evaluator, body, inner, positions)
        for result, index, value in zip(results, indices[-len(results) :], yielded, strict=True):
            result[tuple(index)] = np.broadcast_to(value, shape) if shape else value
    return results


def run_body(
    evaluator: Evaluator, body: Block, inner: Environment, positions: Sequence[Any]
) -> list[Any]:
    scalar: Any
    for scalar in body.ops:
        if scalar.name == "linalg.index":
            inner[scalar.results[0]] = positions[scalar.properties["dim"].value.data]
        elif scalar is body.last_op:
            return [inner[o] for o in scalar.operands]
        else:
            evaluator.run_operation(scalar, inner)
    raise AssertionError("a body without terminator")


def fill(
    _evaluator: Evaluator, _op: Any, operands: Sequence[Array], _environment: Environment
) -> list[Array]:
    scalar, destination = operands
    return [np.full(np.shape(destination), scalar, dtype=np.asarray(destination).dtype)]


def empty(
    _evaluator: Evaluator, op: Any, _operands: Sequence[Array], _environment: Environment
) -> list[Array]:
    """Noise, so that a result that depends on it shows."""
    type_ = op.results[0].type
    assert isinstance(type_, TensorType)
    dtype = dtype_of(type_.element_type)
    count = math.prod(type_.get_shape())
    if dtype.kind == "O":
        return [wrap(np.full(type_.get_shape(), 5), type_.element_type)]
    noise = np.full(count * dtype.itemsize, 1 if dtype.kind == "b" else 0x5A, np.uint8)
    return [noise.view(dtype).reshape(type_.get_shape()).copy()]


def slices(op: Any, dynamic: Sequence[Any], shape: Sequence[int]) -> tuple[slice, ...]:
    """The slices of extract_slice and insert_slice, which have to be inside of `shape`."""
    starts = iter(dynamic)
    found: list[slice] = []
    for offset, size, stride, bound in zip(
        op.properties["static_offsets"].get_values(),
        op.properties["static_sizes"].get_values(),
        op.properties["static_strides"].get_values(),
        shape,
        strict=True,
    ):
        start = int(next(starts)) if offset == -(2**63) else offset
        last = start + (size - 1) * stride
        assert start >= 0, "slice starts before the tensor"
        assert last < bound, "slice ends after the tensor"
        found.append(slice(start, last + 1, stride))
    return tuple(found)


def extract_slice(
    _evaluator: Evaluator, op: Any, operands: Sequence[Array], _environment: Environment
) -> list[Array]:
    source = operands[0]
    part = source[slices(op, operands[1:], source.shape)]
    return [part.reshape(op.results[0].type.get_shape())]


def insert_slice(
    _evaluator: Evaluator, op: Any, operands: Sequence[Array], _environment: Environment
) -> list[Array]:
    source, destination = operands[:2]
    result = np.array(destination)
    place = slices(op, operands[2:], result.shape)
    result[place] = source.reshape(result[place].shape)
    return [result]


def reshape(
    _evaluator: Evaluator, op: Any, operands: Sequence[Array], _environment: Environment
) -> list[Array]:
    return [operands[0].reshape(op.results[0].type.get_shape())]


def while_loop(
    evaluator: Evaluator, op: Any, operands: Sequence[Array], environment: Environment
) -> list[Array]:
    before, after = (region.block for region in op.regions)
    carried = list(operands)
    while True:
        condition, *passed = evaluator.run_block(
            before, {**environment, **dict(zip(before.args, carried, strict=True))}
        )
        if not condition:
            return passed
        carried = evaluator.run_block(
            after, {**environment, **dict(zip(after.args, passed, strict=True))}
        )


def for_loop(
    evaluator: Evaluator, op: Any, operands: Sequence[Array], environment: Environment
) -> list[Array]:
    lower, upper, step, *carried = operands
    block = op.regions[0].block
    for position in range(int(lower), int(upper), int(step)):
        arguments = dict(zip(block.args, [np.int64(position), *carried], strict=True))
        carried = evaluator.run_block(block, {**environment, **arguments})
    return carried


def insert(
    _evaluator: Evaluator, _op: Any, operands: Sequence[Array], _environment: Environment
) -> list[Array]:
    scalar, destination, *indices = operands
    place = tuple(int(index) for index in indices)
    assert all(0 <= i < n for i, n in zip(place, destination.shape, strict=True))
    result = np.array(destination)
    result[place] = scalar
    return [result]


def branch(
    evaluator: Evaluator, op: Any, operands: Sequence[Array], environment: Environment
) -> list[Array]:
    if op.name == "scf.if":
        taken = op.regions[0 if operands[0] else 1]
    else:
        cases = list(op.properties["cases"].get_values())
        index = int(operands[0])
        taken = op.regions[1 + cases.index(index) if index in cases else 0]
    return evaluator.run_block(taken.block, dict(environment))


def call(
    evaluator: Evaluator, op: Any, operands: Sequence[Array], _environment: Environment
) -> list[Array]:
    return evaluator.run(op.properties["callee"].string_value(), operands)


STRUCTURED: dict[str, Callable[..., list[Array]]] = {
    "linalg.generic": generic,
    "linalg.fill": fill,
    "tensor.empty": empty,
    "tensor.extract_slice": extract_slice,
    "tensor.insert_slice": insert_slice,
    "tensor.insert": insert,
    "tensor.expand_shape": reshape,
    "tensor.collapse_shape": reshape,
    "scf.for": for_loop,
    "scf.while": while_loop,
    "scf.if": branch,
    "scf.index_switch": branch,
    "func.call": call,
}


def signless_array(array: Any) -> Array:
    """An argument as the tensors level holds it: unsigned integers with their bits as signed."""
    array = np.asarray(array)
    if array.dtype.kind == "u":
        return array.view(f"i{array.dtype.itemsize}")
    row = ELEMENT_OF_DTYPE[array.dtype]
    if row.bits < 8 and row.element_class in ElementClass.INTEGER:
        return wrap(array.astype(np.int64).astype(object), IntegerType(row.bits))
    return array


def run_module(module: ModuleOp, arguments: Sequence[Any], name: str = "main") -> list[Array]:
    """The results of a function of a module of the tensors level."""
    return Evaluator(module).run(name, [signless_array(a) for a in arguments])
