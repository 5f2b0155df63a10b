"""Reading programs: which format a text is in, and the module it becomes."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation

from lowerings.driver import InputFormat
from lowerings.driver.collector import collector_paused
from lowerings.driver.context import make_context
from lowerings.driver.source import ProgramText, Source
from lowerings.universe import unloaded_packages
from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import read_mlir
from xla_dialect.verification import verify

if TYPE_CHECKING:
    from xla_dialect.mlir_text import Resources

_HLO = re.compile(
    r"""(?:
      (?:HloModule|ENTRY|ROOT)\b
    | (?!(?:builtin\.)?module\b)%?[\w.-]+\ [({]            # a computation
    | %?[\w.-]+\ =\s*(?:[(a-z][a-z0-9]*\ *[\[()]|[a-z-]+\()  # an instruction
    )""",
    re.DOTALL | re.VERBOSE,
)
"""How HLO text begins; an operation of MLIR has a dot in its name, or quotes around it."""
_MLIR = re.compile(r'(?:builtin\.)?module\b|(?:func\.)?func\b|[#!]\w|"\w+\.|(?:%\w+ = )?"?\w+\.\w')
"""How MLIR begins."""
_COMMENTS = re.compile(r"\s*+(?:(?://[^\n]*+|/\*.*?\*/)\s*+)*", re.DOTALL)
"""What may stand before a program; of any length."""
_STABLEHLO = re.compile(
    r"""(?:^|[={}])\s*(?:stablehlo|chlo|mhlo|sdy|vhlo)\.[a-z]\w*+(?![ \t]*[=,}])
    | "(?:stablehlo|chlo|mhlo|sdy|vhlo)\.[\w-]+"\s*\(
    | !(?:stable|m)hlo\.""",
    re.MULTILINE | re.VERBOSE,
)
"""An operation or a type of StableHLO or Shardy, not an attribute that is named so."""
_VHLO = re.compile(r"\bvhlo\.\w+_v[0-9]")
"""An operation, a type or an attribute of VHLO."""
_STRING_OR_COMMENT = re.compile(
    r"""("(?:stablehlo|chlo|mhlo|sdy|vhlo)\.[\w-]+"\s*\()|"(?:[^"\\]|\\.)*"|//[^\n]*""", re.DOTALL
)
"""What is between quotes is kept in the first group where it is the name of an operation."""
_SNIFFED_CHARACTERS = 1 << 16


def detect_format(text: ProgramText, file_name: str = "") -> InputFormat:
    """
    The format of a program: by extension (`.hlo`), else by content.

    MLIR with operations of StableHLO, CHLO or Shardy counts as `stablehlo`, and bytecode with it.
    """
    if isinstance(text, bytes):
        from xla_dialect.binary import is_module  # noqa: PLC0415

        return "hlo" if is_module(text) else "stablehlo"
    if file_name.endswith(".hlo"):
        return "hlo"
    comments = _COMMENTS.match(text)
    start = comments.end() if comments else 0
    if not file_name.endswith(".mlir") and _HLO.match(text, start, start + _SNIFFED_CHARACTERS):
        return "hlo"
    return "stablehlo" if _has_stablehlo(text) else "mlir"


_NAMES: dict[InputFormat, str] = {"hlo": "HLO text", "stablehlo": "StableHLO", "mlir": "MLIR"}


def _by_content(text: str) -> InputFormat | None:
    """The format that a text looks like; None if it looks like none."""
    found = detect_format(text)
    comments = _COMMENTS.match(text)
    if found == "mlir" and not _MLIR.match(text, comments.end() if comments else 0):
        return None
    return found


def _has_stablehlo(text: str) -> bool:
    """
    Whether operations of StableHLO, CHLO or Shardy, or types of the first, are in MLIR.

    The first may be far from the start: a training step's signature alone takes 100 kB.
    """
    # Words are found in a tenth of the time that patterns take.
    if "hlo." not in text and "sdy." not in text:
        return False
    return _STABLEHLO.search(_STRING_OR_COMMENT.sub(r"\1", text)) is not None


def parse_program(
    text: ProgramText,
    file_name: str = "<input>",
    input_format: InputFormat | None = None,
    ctx: Context | None = None,
    *,
    verified: bool = False,
    places: dict[Operation, LocationAttr] | None = None,
    given: Resources | None = None,
) -> ModuleOp:
    """
    The module of a program, a text or bytes in a binary format, verified if asked for (a program
    in StableHLO always is).

    Raises LocatedError for text that cannot be read, or that breaks a rule. `places`
    receives the position in the text of each operation that has another location of its own.
    `given` has the elements of resources that StableHLO only names.
    """
    chosen = (not isinstance(text, bytes) and input_format) or detect_format(text, file_name)
    try:
        with collector_paused():
            module = _read(text, file_name, chosen, ctx, verified, places, given)
            has_calls = b"custom" in text if isinstance(text, bytes) else "custom" in text
            if has_calls and chosen != "mlir":
                # Few programs have such calls.
                from lowerings.driver.own_operations import make_own_operations  # noqa: PLC0415

                make_own_operations(module)
        return module
    except XlaError as error:
        found = _by_content(text) if isinstance(text, str) else None
        if found is not None and found != chosen and "hlo" in (found, chosen):
            error.add_note(
                f"note: this was read as {_NAMES[chosen]} and looks like {_NAMES[found]}, "
                f"which `-f {found}` reads (input_format={found!r} in Python)"
            )
        raise


def _read(
    text: ProgramText,
    file_name: str,
    chosen: InputFormat,
    ctx: Context | None,
    verified: bool,
    places: dict[Operation, LocationAttr] | None,
    given: Resources | None,
) -> ModuleOp:
    # A reader is loaded when a text asks for it: both take a third of the time to start.
    if isinstance(text, bytes):
        from xla_dialect.binary import read_binary  # noqa: PLC0415

        module = read_binary(text, file_name, places)
        if verified and chosen == "hlo":
            verify(module)
        return module
    match chosen:
        case "stablehlo":
            from xla_dialect.stablehlo import read_stablehlo  # noqa: PLC0415

            if "vhlo." in text and _VHLO.search(text):
                from xla_dialect.binary import VhloParser  # noqa: PLC0415

                return read_stablehlo(
                    text, file_name, places=places, given=given, parser_class=VhloParser
                )
            return read_stablehlo(text, file_name, places=places, given=given)
        case "hlo":
            from xla_dialect.hlo_text import read_hlo  # noqa: PLC0415

            module = read_hlo(text, file_name)
        case "mlir":
            module = _read_mlir(text, ctx or make_context(), file_name, places)
    if verified:
        verify(module, {file_name: text})
    return module


def _read_mlir(
    text: str,
    ctx: Context,
    file_name: str,
    places: dict[Operation, LocationAttr] | None,
) -> ModuleOp:
    try:
        return read_mlir(text, ctx, file_name, places)
    except XlaError as error:
        # The dialect that is not known may be of a package that does not load.
        if packages := unloaded_packages():
            error.add_note(packages.strip())
        raise


def parse_source(source: Source, ctx: Context | None = None) -> ModuleOp:
    """The verified module; raises XlaError, with places in the text as it was given."""
    if source.outlined and isinstance(source.text, str):
        from xla_dialect.stablehlo.outlining import outline_equal_parts  # noqa: PLC0415

        outlined = replace(source, text=outline_equal_parts(source.text), outlined=False)
        with suppress(XlaError):
            return parse_source(outlined, ctx)
    return parse_program(
        source.text, source.file_name, source.input_format, ctx, verified=True, given=source.given
    )


def load_program(
    text_or_path: str | bytes | Path,
    input_format: InputFormat | None = None,
    ctx: Context | None = None,
) -> ModuleOp:
    """
    The verified module of a program: its text, its bytes or the path of a file, as for `Source.of`.

    Raises XlaError.

    >>> from lowerings.driver.program import load_program
    >>> module = load_program("ENTRY main { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }")
    >>> [op.name for op in module.walk()]
    ['builtin.module', 'func.func', 'xla.add', 'func.return']
    """
    return parse_source(Source.of(text_or_path, input_format), ctx)
