"""Valid operations, changed at one or two places: types, attributes, operands, regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, cast

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    UnitAttr,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, Block, Operation, Region, TypeAttribute

from lowerings.driver.program import parse_program
from tools.repository.programs import examples
from xla_dialect import types
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops.asynchronous import AsyncUpdateOp, DoneOp
from xla_dialect.ops.transfers import TransferDoneOp
from xla_dialect.ops.tuples import TupleOp
from xla_dialect.reference import run
from xla_dialect.shapes.size_arithmetic import DynamicSize
from xla_dialect.shapes.window import ConvolutionLabels, ConvolutionLabelsAttr, Window, WindowAttr
from xla_dialect.types import ELEMENT_TYPES, TokenType

# Around every bound: of lists, of sizes, of s32, and of 64 bits.
NUMBERS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 4, 5, 7, 2**31, 2**62, 2**63 - 1)
SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 2**31, 2**62)


@dataclass
class Sample:
    """An operation as the parts that it is made from; what is changed is replaced."""

    name: str
    """Of its example."""
    op_class: type[XlaOp]
    operands: list[Attribute]
    """The types of the operands."""
    values: list[Any]
    """What the operands are in the example; None for tokens and contexts."""
    runs: bool
    """Whether operands can be passed from outside: contexts of asynchronous operations cannot."""
    properties: dict[str, Attribute]
    regions: list[Region]
    results: list[Attribute]
    """The declared result types; none of them to infer them."""
    changes: list[str] = field(default_factory=list[str])


@cache
def _original(name: str) -> Sample:
    """The operation of an example with the values that its operands have there."""
    module = parse_program(examples()[name].text)
    function = next(f for f in module.ops if isinstance(f, FuncOp) and f.sym_name.data == name)
    target = next(op for op in function.walk() if op.name == f"xla.{name}")
    assert isinstance(target, XlaOp)
    if target.parent is not function.body.block:
        return replace(_original("fusion"), name=name)
    operands = [operand.type for operand in target.operands]
    takes_context = isinstance(target, AsyncUpdateOp | DoneOp | TransferDoneOp)
    return Sample(
        name,
        type(target),
        operands,
        [None] * len(operands) if takes_context else _operand_values(name, target),
        not takes_context,
        dict(target.properties),
        list(target.regions),
        [result.type for result in target.results],
    )


def _operand_values(name: str, target: XlaOp) -> list[Any]:
    """The operands of the operation, by a program that returns them instead."""
    module = cast(ModuleOp, target.get_toplevel_object()).clone()
    function = next(f for f in module.ops if isinstance(f, FuncOp) and f.sym_name.data == name)
    block = function.body.block
    twin = next(op for op in block.ops if op.name == target.name)
    kept = list(twin.operands)
    for op in reversed(list(block.ops)[list(block.ops).index(twin) :]):
        op.detach()
        op.erase(safe_erase=False)
    block.add_op(ReturnOp(*kept))
    function.function_type = FunctionType.from_lists([], [value.type for value in kept])
    return list(run(module, entry=name))


def copy_of(name: str) -> Sample:
    """The operation of an example, to change."""
    sample = _original(name)
    return replace(
        sample,
        operands=list(sample.operands),
        values=list(sample.values),
        properties=dict(sample.properties),
        regions=[region.clone() for region in sample.regions],
        results=list(sample.results),
        changes=[],
    )


def program(sample: Sample) -> ModuleOp:
    """
    A module whose @main has the operation's operands as parameters and returns its results.

    Raises VerifyException where the result types cannot be inferred.
    """
    module = parse_program(examples()[sample.name].text)
    for function in list(module.ops):
        assert isinstance(function, FuncOp)
        if function.sym_name.data == sample.name:
            function.detach()
            function.erase()
    block = Block(arg_types=sample.operands)
    op = sample.op_class.make(
        list(block.args), sample.properties, sample.regions, sample.results or None
    )
    block.add_ops([op, ReturnOp(*op.results)])
    signature = FunctionType.from_lists(sample.operands, [result.type for result in op.results])
    module.body.block.add_op(FuncOp("main", signature, Region(block)))
    return module


def value_of(type_: Attribute, value: Any) -> Any:
    """A value of a type: that of the example where it fits, else small numbers."""
    if isinstance(type_, TupleType):
        return tuple(value_of(element, None) for element in type_.types.data)
    if not types.is_array(type_):
        return None
    array = cast(types.Array, type_)
    sizes = tuple(map(int, types.extents(array)))
    dtype = numpy_dtype(array.element_type)
    if isinstance(value, np.ndarray) and value.shape == sizes:
        with np.errstate(all="ignore"):
            return (value if dtype.kind == "c" else np.real(value)).astype(dtype)
    count = types.element_count(sizes)
    return (np.arange(count) % 3).astype(dtype).reshape(sizes)


# ---- What is changed, one thing at a time. Every function changes the sample in place.


def change_operand_type(draw: st.DrawFn, sample: Sample) -> None:
    """Another type of one operand."""
    position = draw(st.integers(0, len(sample.operands) - 1))
    sample.operands[position] = other_type(draw, sample.operands[position])


def change_all_sizes(draw: st.DrawFn, sample: Sample) -> None:
    """One size wherever another one stands, in operands and results."""
    old, new = draw(st.sampled_from(SIZES)), draw(st.sampled_from(SIZES))
    sample.operands[:] = [_resized(type_, old, new) for type_ in sample.operands]
    sample.results = [_resized(type_, old, new) for type_ in sample.results]


def change_all_elements(draw: st.DrawFn, sample: Sample) -> None:
    """One element type for all operands and results."""
    element = draw(st.sampled_from(ELEMENT_TYPES)).type
    sample.operands[:] = [_with_elements(type_, element) for type_ in sample.operands]
    sample.results = [_with_elements(type_, element) for type_ in sample.results]


def _resized(type_: Attribute, old: int, new: int) -> Attribute:
    if not types.is_array(type_):
        return type_
    array = cast(types.Array, type_)
    sizes = [new if size == old else size for size in types.extents(array)]
    return types.array(array.element_type, sizes)


def _with_elements(type_: Attribute, element: Attribute) -> Attribute:
    return types.array_like(cast(types.Array, type_), element) if types.is_array(type_) else type_


def _tuple_of(*elements: Attribute) -> TupleType:
    return TupleType(tuple(cast(TypeAttribute, element) for element in elements))


def other_type(draw: st.DrawFn, type_: Attribute) -> Attribute:
    """A type near this one, or quite another."""
    if not types.is_array(type_) or draw(st.integers(0, 5)) == 0:
        odd = [TokenType(), _tuple_of(), _tuple_of(type_), i32, IndexType(), f32]
        odd += [TensorType(IndexType(), [2]), TensorType(f32, [-1]), TensorType(f32, [2, -1])]
        return draw(st.sampled_from([*odd, FunctionType.from_lists([], [])]))
    array = cast(types.Array, type_)
    sizes = list(types.extents(array))
    element = array.element_type
    match draw(st.sampled_from(["elements", "insert", "remove", "size", "dynamic"])):
        case "elements":
            element = draw(st.sampled_from(ELEMENT_TYPES)).type
        case "insert":
            sizes.insert(draw(st.integers(0, len(sizes))), draw(st.sampled_from(SIZES)))
        case _ if not sizes:
            sizes = [draw(st.sampled_from(SIZES))]
        case "remove":
            del sizes[draw(st.integers(0, len(sizes) - 1))]
        case "size":
            sizes[draw(st.integers(0, len(sizes) - 1))] = draw(st.sampled_from(SIZES))
        case _:
            position = draw(st.integers(0, len(sizes) - 1))
            sizes[position] = DynamicSize(sizes[position])
    return types.array(element, sizes)


def change_operands(draw: st.DrawFn, sample: Sample) -> None:
    """One operand less, twice, or at another place."""
    position = draw(st.integers(0, len(sample.operands) - 1))
    type_, value = sample.operands.pop(position), sample.values.pop(position)
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(sample.operands)))
        sample.operands.insert(place, type_)
        sample.values.insert(place, value)


def change_property(draw: st.DrawFn, sample: Sample) -> None:
    """Another value of a property."""
    name = draw(st.sampled_from(sorted(sample.op_class.get_irdl_definition().properties)))
    value = sample.properties.get(name)
    action = draw(st.integers(0, 9))
    if action == 0:
        sample.properties.pop(name, None)
    elif action == 1:
        odd = [StringAttr("x"), UnitAttr(), IntegerAttr(1, i64), DenseArrayBase.from_list(i64, [])]
        sample.properties[name] = draw(st.sampled_from([*odd, BoolAttr.from_bool(True)]))
    elif value is not None:
        sample.properties[name] = other_attribute(draw, value)
    else:
        sample.properties[name] = DenseArrayBase.from_list(i64, other_list(draw, ()))


def other_attribute(draw: st.DrawFn, value: Attribute) -> Attribute:
    """An attribute of the same class with another value."""
    match value:
        case DenseArrayBase():
            return DenseArrayBase.from_list(i64, other_list(draw, decode(value)))
        case IntegerAttr() if value.type == i1:
            return BoolAttr.from_bool(not value.value.data)
        case IntegerAttr():
            return IntegerAttr(draw(st.sampled_from(NUMBERS)), i64)
        case FloatAttr():
            return FloatAttr(draw(st.sampled_from([0.0, -1.0, float("inf"), float("nan")])), f32)
        case EnumAttribute():
            return type(value)(draw(st.sampled_from(list(value.enum_type))))
        case WindowAttr():
            return WindowAttr(other_window(draw, value.data))
        case ConvolutionLabelsAttr():
            parts = [draw(st.permutations(labels)) for labels in str(value.data).split("->")]
            lhs, _, rhs = "".join(parts[0]).partition("_")
            return ConvolutionLabelsAttr(ConvolutionLabels(lhs, rhs, "".join(parts[1])))
        case _:
            return StringAttr("x")


def other_list(draw: st.DrawFn, values: Sequence[int]) -> list[int]:
    """One number more, less, or another one."""
    numbers = list(values)
    if not numbers or draw(st.booleans()):
        numbers.insert(draw(st.integers(0, len(numbers))), draw(st.sampled_from(NUMBERS)))
    if len(numbers) != len(values) + 1 or draw(st.booleans()):
        numbers.pop(draw(st.integers(0, len(numbers) - 1)))
    return numbers


def other_window(draw: st.DrawFn, window: Window) -> Window:
    """Another number in one dimension, a dimension less, or one twice."""
    dimensions = list(window.dimensions)
    if not dimensions:
        return Window.of([draw(st.sampled_from(NUMBERS))])
    position = draw(st.integers(0, len(dimensions) - 1))
    dimension = dimensions.pop(position)
    match draw(st.integers(0, 7)):
        case 0:
            pass
        case 1:
            dimensions += [dimension, dimension]
        case 2:
            dimensions.insert(position, replace(dimension, reversal=not dimension.reversal))
        case _:
            fields = ("size", "stride", "padding_low", "padding_high")
            names = (*fields, "base_dilation", "window_dilation")
            number = {draw(st.sampled_from(names)): draw(st.sampled_from(NUMBERS))}
            dimensions.insert(position, replace(dimension, **number))
    return Window(tuple(dimensions))


def change_results(draw: st.DrawFn, sample: Sample) -> None:
    """Another declared result type, none, one less, or one twice."""
    position = draw(st.integers(0, len(sample.results) - 1)) if sample.results else 0
    match draw(st.integers(0, 4)):
        case 0:
            sample.results.clear()
        case 1:
            del sample.results[position : position + 1]
        case 2:
            sample.results += sample.results[position : position + 1]
        case _ if sample.results:
            sample.results[position] = other_type(draw, sample.results[position])
        case _:
            sample.results = [types.array(f32, [])]


def change_region(draw: st.DrawFn, sample: Sample) -> None:
    """Another signature of a computation, a computation without blocks, with two, or none."""
    whole = [i for i, region in enumerate(sample.regions) if len(region.blocks) == 1]
    position = draw(st.sampled_from(whole))
    region = sample.regions[position]
    block = region.block
    match draw(st.integers(0, 8)):
        case 0:
            sample.regions[position] = Region()
        case 1:
            region.add_block(Block())
        case 2:
            sample.regions.insert(position, region.clone())
        case 3:
            del sample.regions[position]
        case 4:
            block.insert_arg(types.array(f32, []), draw(st.integers(0, len(block.args))))
        case 5 if block.args and not block.args[-1].uses:
            block.erase_arg(block.args[-1])
        case 6 if block.last_op is not None:
            _change_returned(draw, block)
        case 7 if block.last_op is not None:
            block.erase_op(cast(Operation, block.last_op))
        case _:
            _change_parameter(draw, block)


def _change_parameter(draw: st.DrawFn, block: Block) -> None:
    if block.args:
        argument = block.args[draw(st.integers(0, len(block.args) - 1))]
        new = block.insert_arg(other_type(draw, argument.type), argument.index)
        argument.replace_all_uses_with(new)
        block.erase_arg(argument)


def _change_returned(draw: st.DrawFn, block: Block) -> None:
    last = cast(Operation, block.last_op)
    known = [*block.args, *(result for op in block.ops for result in op.results)]
    returned = list(last.operands)
    position = draw(st.integers(0, len(returned)))
    if known:
        kept = draw(st.sampled_from([position, position + 1]))
        returned[position:kept] = [draw(st.sampled_from(known))]
    else:
        returned = returned[:position]
    if draw(st.integers(0, 3)) == 0:
        pair = TupleOp(returned)
        block.insert_op_before(pair, last)
        returned = [pair.result]
    last.operands = returned


@st.composite
def perturbed(draw: st.DrawFn, name: str) -> Sample:
    """The operation of an example with one, two or three changes."""
    sample = copy_of(name)
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        changes = [change_results, change_all_sizes, change_all_elements]
        if sample.operands:
            changes += [change_operand_type, change_operands]
        if sample.op_class.get_irdl_definition().properties:
            changes += [change_property, change_property]
        if any(len(region.blocks) == 1 for region in sample.regions):
            changes += [change_region, change_region]
        change = draw(st.sampled_from(changes))
        change(draw, sample)
        sample.changes.append(change.__name__)
    return sample
