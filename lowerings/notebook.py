"""Programs and diffs as notebooks show them: in colours.

`%load_ext lowerings.notebook` shows modules, functions and operations of xDSL so; the texts of this
package and their diffs show themselves.
"""

from __future__ import annotations

from difflib import unified_diff
from typing import Any, cast

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer, RegexLexer, words
from pygments.lexers import find_lexer_class
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text
from xdsl.ir import Operation

from xla_dialect.mlir_text import print_mlir

MOST_CHARACTERS = 200_000
"""What is longer is shown up to there: a notebook keeps all that it shows."""


class ProgramLexer(RegexLexer):
    """The parts of MLIR and of HLO text: names, types, numbers, strings, comments."""

    name = "MLIR"
    tokens = {
        "root": [
            (r"//[^\n]*", Comment),
            (r"/\*.*?\*/", Comment),
            (r'"(?:[^"\\\n]|\\.)*"', String),
            (r"%[\w.$#:-]+", Name.Variable),
            (r"@[\w.$-]+", Name.Function),
            (r"\^[\w.$-]+", Name.Label),
            (r"[#!][\w.$]+", Name.Constant),
            (words(("ENTRY", "ROOT", "HloModule"), suffix=r"\b"), Keyword),
            (r"(?:tensor|memref|vector|tuple|complex)(?=<)", Keyword.Type),
            (r"(?:[su]?i|bf|f|s|u|pred|index)\d*(?:e\dm\d\w*)?\b(?!\.)", Keyword.Type),
            (r"[a-z_]\w*\.[\w.]+", Name.Builtin),
            (r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|0x[0-9A-Fa-f]+", Number),
            (r"\w+", Text),
            (r"[-=<>:,.(){}\[\]]", Operator),
            (r"\s+|.", Text),
        ]
    }


_DIFF_LEXER = cast("type[Lexer]", find_lexer_class("Diff"))


class ShownProgram(str):
    """The text of a program, which a notebook shows in colours."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return in_colours(self, ProgramLexer())


class ShownDiff(str):
    """A unified diff of two programs, which a notebook shows in colours."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return in_colours(self, _DIFF_LEXER()) if self else "<p>no difference</p>"


def program_diff(before: str | Operation, after: str | Operation) -> ShownDiff:
    """
    The unified diff of two programs, given as texts or modules; empty where they are equal.

    >>> from lowerings.notebook import program_diff
    >>> print(program_diff("a = add(x, y)", "a = add(y, x)"))
    --- before
    +++ after
    @@ -1 +1 @@
    -a = add(x, y)
    +a = add(y, x)
    """
    texts = [each if isinstance(each, str) else print_mlir(each) for each in (before, after)]
    old, new = (text.splitlines() for text in texts)
    return ShownDiff("\n".join(unified_diff(old, new, "before", "after", lineterm="")))


def in_colours(text: str, lexer: Lexer) -> str:
    """Text as HTML whose colours need no style sheet."""
    shown = text[:MOST_CHARACTERS]
    html: str = highlight(shown, lexer, HtmlFormatter[str](noclasses=True))
    left_out = len(text) - len(shown)
    return html + (f"<p>{left_out:,} more characters</p>" if left_out else "")


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext lowerings.notebook` calls: operations of xDSL are shown as their text."""
    ipython.display_formatter.formatters["text/html"].for_type(Operation, _show)


def _show(op: Operation) -> str:
    return in_colours(print_mlir(op), ProgramLexer())


def unload_ipython_extension(ipython: Any) -> None:
    """What `%unload_ext lowerings.notebook` calls."""
    ipython.display_formatter.formatters["text/html"].pop(Operation, None)
