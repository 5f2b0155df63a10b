"""How values flow from operation to operation: the graphs of computations on arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.bufferize.tensor_operands import is_linalg_operation
from xla_dialect.layouts.type_layouts import human_string_with_layout
from xla_dialect.types import TokenType
from xla_dialect.xdsl.traversal import operations_in


def dataflow(module: ModuleOp, spans: Mapping[Operation, tuple[int, int]]) -> dict[str, Any] | None:
    """
    The computations of a module whose values are arrays: each has a title and nodes, and a node is
    its line, name and type, then its operands, as numbers of nodes. None where there are none.
    """
    types: dict[str, int] = {}
    spelled: dict[int, tuple[Attribute, int]] = {}

    def type_number(type_: Attribute) -> int:
        found = spelled.get(id(type_))
        if found is None:
            number = types.setdefault(_spell(type_), len(types))
            found = spelled[id(type_)] = type_, number
        return found[1]

    computations: list[dict[str, Any]] = []
    for op in operations_in(module):
        if not op.regions or isinstance(op, ModuleOp) or is_linalg_operation(op):
            continue
        for number, region in enumerate(op.regions):
            for block in region.blocks:
                nodes = _nodes(block, spans, type_number)
                if nodes:
                    title = _title(op, number)
                    computations.append({"title": title, "line": spans[op][0], "nodes": nodes})
    if not computations:
        return None
    return {"types": list(types), "computations": computations}


def _title(op: Operation, region: int) -> str:
    if isinstance(op, FuncOp):
        return f"@{op.sym_name.data}"
    return f"{op.name} {region}" if len(op.regions) > 1 else op.name


def _nodes(block: Block, spans: Mapping[Operation, tuple[int, int]], type_number: Any) -> list[Any]:
    """The nodes of a block; none where it has no arrays, such as the sum of a reduction."""
    if not any(_is_array(result.type) for op in block.ops for result in op.results):
        return []
    numbers: dict[SSAValue, int] = {}
    nodes: list[Any] = []
    owner = block.parent_op()
    start = 0 if owner is None else spans[owner][0]
    for argument in block.args:
        numbers[argument] = len(nodes)
        name = argument.name_hint or f"argument {argument.index}"
        nodes.append([start, name, type_number(argument.type)])
    for op in block.ops:
        operands = dict.fromkeys(
            numbers[operand] for operand in _used_values(op) if operand in numbers
        )
        type_ = type_number(op.results[0].type) if op.results else -1
        for result in op.results:
            numbers[result] = len(nodes)
        nodes.append([spans[op][0], op.name, type_, *operands])
    return nodes


def _used_values(op: Operation) -> list[SSAValue]:
    """What an operation uses, and what is in it."""
    return [operand for inner in operations_in(op) for operand in inner.operands]


def _is_array(type_: Attribute) -> bool:
    return isinstance(type_, TensorType | TupleType) and (
        isinstance(type_, TupleType) or bool(cast("TensorType[Attribute]", type_).get_shape())
    )


def _spell(type_: Attribute) -> str:
    """Arrays as HLO text has them, shorter than MLIR's."""
    if isinstance(type_, TensorType | TupleType | TokenType):
        try:
            return human_string_with_layout(type_)
        except (ValueError, KeyError, TypeError):
            return str(type_)
    return str(type_)
