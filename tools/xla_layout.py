"""`xla-layout`: shows how the layout of a shape puts its elements into memory."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, NoneAttr
from xdsl.ir import Attribute

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import HloSyntaxError
from xla_dialect.layout import LayoutAttr, LayoutError
from xla_dialect.layouts.type_layouts import validate_layout_for_shape
from xla_dialect.mlir_text import read_mlir_type
from xla_dialect.spelling import SpellingError
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import (
    MAX_ELEMENTS,
    Array,
    TokenType,
    element_count,
    extents,
    is_array,
    spell,
)

from .command_line import CommandLine, guarded, write_output
from .layout_drawing import drawing
from .layout_report import leaves_of, report

_MLIR_SPELLINGS = ("tensor<", "tuple<", "!xla.")


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-layout."""
    parser = CommandLine(
        prog="xla-layout",
        description="Shows how the layout of a shape puts its elements into memory.",
        epilog="Examples: xla-layout 'f32[2,3]{0,1}'; xla-layout 'bf16[10,130]{1,0:T(8,128)(2,1)}' "
        "-o memory.svg; xla-layout '(f32[4], s4[3,5]{1,0:E(4)})'",
    )
    add = parser.add_argument
    add("shape", help="a shape as HLO text has it, or a type of the xla dialect")
    add("-o", "--output-file", metavar="FILE.svg", help="draw the memory too; - is stdout, alone")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """
    Runs xla-layout; returns the exit code: 0, or 1 for bad input.

    >>> from xla_dialect_tools import xla_layout
    >>> xla_layout.main(["nonsense"])  # The message is on stderr.
    1
    """
    return guarded("xla-layout", lambda: run(make_argument_parser().parse_args(argv)))


def run(args: argparse.Namespace) -> int:
    """Runs xla-layout with parsed arguments."""
    type_ = parse(args.shape)
    if args.output_file != "-":
        print(report(type_), end="")
    if args.output_file is not None:
        write_output(args.output_file, drawing(type_))
    return 0


def parse(text: str) -> Attribute:
    """The type that is spelled, in HLO or in MLIR; raises LocatedError for what is wrong."""
    if not text.lstrip().startswith(_MLIR_SPELLINGS):
        try:
            return parse_type(text)
        except SpellingError as error:
            place = "<type>", text, error.position
            raise HloSyntaxError.at_offset(error.message, *place) from None
    context = Context()
    context.load_dialect(Builtin)
    context.load_attr_or_type(LayoutAttr)
    context.load_attr_or_type(TokenType)
    type_ = read_mlir_type(text, context)
    for _, leaf in leaves_of(type_):
        if message := _what_is_wrong_with(leaf):
            place = max(0, text.find("#xla.layout"))
            raise LocatedError.at_offset(message, "<type>", text, place)
    return type_


def _what_is_wrong_with(leaf: Attribute) -> str:
    """Why a type is none of XLA's; nothing if it is."""
    if isinstance(leaf, TokenType):
        return ""
    if not is_array(leaf):
        return f"{leaf} is no type of XLA"
    type_ = cast(Array, leaf)
    if not isinstance(type_.encoding, NoneAttr | LayoutAttr):
        return f"{type_.encoding} is no layout"
    if element_count([size for size in extents(type_) if size > 0]) > MAX_ELEMENTS:
        return f"{spell(type_)} has more than 2^63 - 1 elements"
    try:
        validate_layout_for_shape(type_)
    except LayoutError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.exit(main())
