"""The signatures of constructors: what classes define, and what constructors take."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, Block
from xdsl.utils.exceptions import VerifyException

from lowerings.driver.program import parse_program
from tools.input_text import split_chunks
from xla_dialect.attributes import SpelledAttribute
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import XLA
from xla_dialect.ops.data_movement import PadOp, TransposeOp

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.mlir"))


def own(op_class: type[XlaOp]) -> tuple[list[str], list[str], list[str]]:
    """Operands, properties that have to be given, and others, of a signature."""
    operands: list[str] = []
    needed: list[str] = []
    optional: list[str] = []
    for name, each in inspect.signature(op_class).parameters.items():
        if each.kind is inspect.Parameter.POSITIONAL_ONLY:
            operands.append(name)
        elif each.default is inspect.Parameter.empty:
            needed.append(name)
        elif name not in ("regions", "result_types", "attributes"):
            optional.append(name)
    return operands, needed, optional


def test_padding() -> None:
    operands, needed, optional = own(PadOp)
    assert operands == ["operand", "padding_value"]
    assert needed == ["edge_padding_low", "edge_padding_high", "interior_padding"]
    assert optional == []


def operations() -> Iterator[XlaOp]:
    for path in EXAMPLES:
        for chunk in split_chunks(path.read_text(encoding="utf-8")):
            module = parse_program(chunk.text, path.name)
            yield from (op for op in module.walk() if isinstance(op, XlaOp))


def test_operations_are_built_as_their_signatures_say() -> None:
    """Those of the examples: each again from its operands and properties, as Python has them."""
    built: set[type[XlaOp]] = set()
    for op in operations():
        signature = inspect.signature(type(op))
        operands, needed, optional = own(type(op))
        groups = [
            list(group) if is_list(signature, name) else group
            for name, group in ((name, getattr(op, name)) for name in operands)
        ]
        groups = [[] if group is None else group for group in groups]
        given: dict[str, Any] = {
            name: python_value(op.properties[name])
            for name in (*needed, *optional)
            if name in op.properties
        }
        if op.regions:
            given["regions"] = [region.clone() for region in op.regions]
        given["result_types"] = list(op.result_types)
        bound = signature.bind(*groups, **given)
        again = type(op)(*bound.args, **bound.kwargs)
        assert again.properties == op.properties
        assert tuple(again.operands) == tuple(op.operands)
        again.verify()
        for name in needed:
            with pytest.raises(TypeError, match=name):
                signature.bind(*groups, **{k: v for k, v in given.items() if k != name})
            with pytest.raises(TypeError, match="wrong"):
                signature.bind(*groups, **given, wrong=1)
        built.add(type(op))
    assert len(built) > 100


def python_value(attribute: Attribute) -> object:
    """What a constructor takes for an attribute."""
    value = decode(attribute)
    return str(value) if isinstance(attribute, SpelledAttribute) else value


def is_list(signature: inspect.Signature, name: str) -> bool:
    return str(signature.parameters[name].annotation).startswith("Sequence")


def test_every_operand_and_property_is_there() -> None:
    for op_class in cast("list[type[XlaOp]]", list(XLA.operations)):
        definition = op_class.get_irdl_definition()
        operands, needed, optional = own(op_class)
        assert operands == [name for name, _ in definition.operands], op_class
        assert {*needed, *optional} == {*definition.properties}, op_class


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"permutation": (1, 0)},
            "dimensions is missing; there is no permutation (there are: dimensions)",
        ),
        ({}, "dimensions is missing"),
        (
            {"dimensions": (1, 0), "axes": (1, 0), "perm": 3},
            "there is no axes, perm (there are: dimensions)",
        ),
    ],
)
def test_wrong_names_are_told(given: dict[str, Any], message: str) -> None:
    block = Block(arg_types=[TensorType(f32, [2, 3])])
    with pytest.raises(VerifyException) as error:
        TransposeOp(block.args[0], **given)
    assert str(error.value) == f"xla.transpose: (Properties) {message}"
