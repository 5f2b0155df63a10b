"""xDSL's own parser and printer, with our universe alone, take what is written as StableHLO."""

from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from stablehlo_operations import USES
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.exceptions import ParseError, VerifyException

from lowerings.universe import UNIVERSE
from xla_dialect.diagnostics import XlaError
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops import FAMILIES, operations_of_dialect
from xla_dialect.stablehlo.writing import StableHloPrinter, print_stablehlo
from xla_dialect.xdsl.definition import format_of, op_definition

FILES = sorted(Path(__file__).parent.glob("*.mlir"))

NOT_OF_XDSL = (
    "tensor<100000x100000x100000xf32>",  # xDSL expands literals of one value.
    "shape.",  # xDSL's dialect of this name has other operations.
    "#llvm.",  # xDSL's dialect of this name has other attributes.
)
"""What in a text xDSL itself does not take."""


def stock_text(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


@cache
def stock_context() -> Context:
    context = Context()
    for universe in (UNIVERSE, XDSL_UNIVERSE):
        for name, dialect in universe.all_dialects.items():
            if name not in context.registered_dialect_names:
                context.register_dialect(name, dialect)
    return context


def read_by_xdsl(text: str) -> ModuleOp:
    module = Parser(stock_context(), text).parse_module()
    module.verify()
    return module


def assert_same_in_xdsl(text: str) -> None:
    module = read_by_xdsl(text)
    assert StableHloPrinter().text(module) == text
    written = stock_text(module)
    assert stock_text(read_by_xdsl(written)) == written


def programs(path: Path) -> Iterator[str]:
    """The programs of a file, as they are written."""
    for part in path.read_text().split("// -----"):
        try:
            text = print_stablehlo(read_stablehlo(part))
        except XlaError:
            continue  # What is refused, or has no form in StableHLO.
        if not any(each in text for each in NOT_OF_XDSL):
            yield text


def test_files() -> None:
    texts = [text for path in FILES for text in programs(path)]
    assert len(texts) > 25
    for text in texts:
        assert_same_in_xdsl(text)


def test_operations() -> None:
    for use in USES:
        text = print_stablehlo(read_stablehlo(use.text()))
        if not any(each in text for each in NOT_OF_XDSL):
            assert_same_in_xdsl(text)


def test_loops_carry_tokens() -> None:
    """Tokens of StableHLO in regions are those of the rules, which are stated for `xla`."""
    read_by_xdsl("""
        func.func @main(%t: !stablehlo.token, %p: tensor<i1>) -> !stablehlo.token {
          %0:2 = stablehlo.while(%a = %t, %b = %p) : !stablehlo.token, tensor<i1>
            cond { stablehlo.return %b : tensor<i1> }
            do { stablehlo.return %a, %b : !stablehlo.token, tensor<i1> }
          %1 = "stablehlo.if"(%p) ({
            stablehlo.return %0#0 : !stablehlo.token
          }, {
            stablehlo.return %t : !stablehlo.token
          }) : (tensor<i1>) -> !stablehlo.token
          func.return %1 : !stablehlo.token
        }
    """)


def test_operands_have_their_names() -> None:
    """Operands are in the order that the operation of `xla` has them in, wherever both have a name."""
    compared = 0
    for op in (op for dialect in FAMILIES for op in operations_of_dialect(dialect)):
        if not issubclass(op, StableHloOp) or op.SAME is None:
            continue
        names, others = (
            [name for name, _ in each.get_irdl_definition().operands] for each in (op, op.SAME)
        )
        if set(names) == set(others):
            assert names == others, op.name
            compared += 1
    assert compared > 50


def test_every_assembly_format_is_one_of_xdsl() -> None:
    """Formats are parsed on use: a malformed one of a rare operation must not wait for that."""
    formats = 0
    for name in UNIVERSE.all_dialects:
        for op in UNIVERSE.all_dialects[name]().operations:
            if issubclass(op, IRDLOperation) and op.assembly_format is not None:
                format_of(op)
                formats += 1
    assert formats > 100


def test_formats_are_parsed_on_use() -> None:
    @op_definition
    class UnreadableOp(IRDLOperation):
        name = "test.unreadable"
        assembly_format = "$nothing"

    with pytest.raises(ParseError, match="nothing"):
        stock_text(ModuleOp([UnreadableOp()]))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("broadcast_in_dim %x, dims = [0] : (tensor<3xf32>) -> tensor<4x2xf32>", "C4"),
        ("broadcast_in_dim %x, dims = [2] : (tensor<3xf32>) -> tensor<3x2xf32>", "C3|C4"),
        ("broadcast %x, sizes = [2] : (tensor<3xf32>) -> tensor<3x2xf32>", "sizes \\[2\\] before"),
    ],
)
def test_broadcasts_are_verified(operation: str, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        read_by_xdsl(f"""
            func.func @main(%x: tensor<3xf32>) {{
              %0 = stablehlo.{operation}
              func.return
            }}
        """)
