"""Elements in nested brackets: `{ {1, 2}, {3, nan} }` of HLO text, `[[1, 2], [3, 4]]` of MLIR.

Constants of many megabytes are common, so the elements of an array are read all at once: brackets
and commas are compared with those that the sizes call for, the numbers between them go through one
`map`. Only when that fails is the literal read again, element by element, to find what is wrong.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NoReturn

from xla_dialect.spelling import SpellingError, quoted


class Brackets:
    """How a language writes lists, and what is an element between its commas."""

    def __init__(self, opening: str, closing: str, name: str):
        self.opening, self.closing, self.name = opening, closing, name
        both = re.escape(opening + closing)
        self.no_structure = re.compile(rf"[^(){both},]++")
        self.blanked = str.maketrans(f"(){opening}{closing}", "    ")
        self.token = re.compile(rf"[{both},]|[^\s{both},]++")
        self.complex_token = re.compile(rf"[{both},]|\([^(){both}]*+\)?|[^\s{both},()]++")

    def structure(self, sizes: Sequence[int], leaf: str) -> str:
        """A literal of these sizes without its numbers and blanks: `{{,},{,}}`."""
        structure = leaf
        for size in reversed(sizes):
            structure = self.opening + ",".join([structure] * size) + self.closing
        return structure


class NestedElements(ABC):
    """The literal of one array in one language; positions in errors count from its start."""

    brackets: ClassVar[Brackets]
    elision: ClassVar[tuple[str, str]]
    """What stands for elements that were left out, and what a message says where it may not."""

    def __init__(self, text: str, sizes: Sequence[int], is_complex: bool):
        self.text = text
        self.sizes = sizes
        self.is_complex = is_complex

    @abstractmethod
    def converted(self, numbers: str) -> bytes:
        """
        The bytes of `number, number, ...`, of a complex type its parts in turn.

        Raises OverflowError for one that is out of range, ValueError for what is none.
        """

    @abstractmethod
    def types(self) -> tuple[str, str]:
        """The type and the element type, as messages name them."""

    def shown(self, token: str) -> str:
        """A token as messages show it."""
        return quoted(token)

    def read(self) -> bytes:
        """The elements as the bytes of a dense attribute; raises SpellingError."""
        brackets, sizes = self.brackets, self.sizes
        # Dimensions after one of size 0 have no brackets, whatever their sizes are.
        zero = sizes.index(0) + 1 if 0 in sizes else None
        # The structure of a large shape is not built for a short text.
        is_too_short = math.prod(filter(None, sizes[:zero])) > len(self.text)
        leaf = "(,)" if self.is_complex else ""
        structure = brackets.no_structure.sub("", self.text)
        if is_too_short or structure != brackets.structure(sizes[:zero], leaf):
            self.fail()
        numbers = self.text.translate(brackets.blanked)
        if zero is not None:
            if numbers.strip(" \t\r\n,"):
                self.fail()
            return b""
        try:
            return self.converted(numbers)
        except (ValueError, OverflowError):
            self.fail()

    def fail(self) -> NoReturn:
        """Raises the SpellingError for the first thing that is wrong."""
        word, message = self.elision
        left_out = self.text.find(word)
        if left_out >= 0:
            raise SpellingError(message, left_out)
        elements: list[re.Match[str]] = []
        try:
            self._check_structure(elements)
        finally:
            # An illegal element before the wrong bracket or comma is the first error: it is raised.
            self._check_elements(elements)
        raise SpellingError(f"expected a literal of type {self.types()[0]}")

    def _check_structure(self, elements: list[re.Match[str]]) -> None:
        """Collects elements; raises SpellingError at the first bracket or comma that is wrong."""
        brackets = self.brackets
        counts: list[int] = []
        """How many elements were met inside each open bracket."""
        expects_element = True
        pattern = brackets.complex_token if self.is_complex else brackets.token
        for match in pattern.finditer(self.text):
            token, position = match.group(), match.start()
            if token == ",":
                if expects_element or not counts:
                    raise SpellingError("unexpected ','", position)
                expects_element = True
            elif token == brackets.closing:
                if not counts or (expects_element and counts[-1]):
                    raise SpellingError(f"unexpected '{token}'", position)
                self._check_count(counts, position)
                counts.pop()
                expects_element = False
            elif not expects_element:
                expected = "','" if counts else "the end of the literal"
                raise SpellingError(f"expected {expected}, found {self.shown(token)}", position)
            else:
                self._check_depth(token, len(counts), position)
                if counts:
                    counts[-1] += 1
                expects_element = token == brackets.opening
                if expects_element:
                    counts.append(0)
                else:
                    elements.append(match)
        if counts:
            message = f"expected '{brackets.closing}', found the end of the literal"
            raise SpellingError(message, len(self.text))

    def _check_count(self, counts: list[int], position: int) -> None:
        dimension = len(counts) - 1
        if counts[-1] != self.sizes[dimension]:
            raise SpellingError(
                f"dimension {dimension} of {self.types()[0]} has {self.sizes[dimension]} "
                f"elements, the literal has {counts[-1]}",
                position,
            )

    def _check_depth(self, token: str, depth: int, position: int) -> None:
        """Brackets open for every dimension, and elements stand inside all of them."""
        brackets, rank = self.brackets, len(self.sizes)
        is_opening = token == brackets.opening
        if is_opening and depth == rank:
            message = f"nested deeper than the {rank} dimensions of {self.types()[0]}"
            raise SpellingError(f"{brackets.name} are {message}", position)
        if not is_opening and depth < rank:
            expected = f"'{brackets.opening}' for dimension {depth} of {self.types()[0]}"
            raise SpellingError(f"expected {expected}, found {self.shown(token)}", position)

    def _check_elements(self, elements: list[re.Match[str]]) -> None:
        """Raises SpellingError for the first element that is no value of the type, by bisection."""
        if self._reason_against(elements) is None:
            return
        while len(elements) > 1:
            half = elements[: len(elements) // 2]
            elements = half if self._reason_against(half) else elements[len(half) :]
        (element,) = elements
        message = f"{self.shown(element.group())} {self._reason_against(elements)}"
        raise SpellingError(f"{message} {self.types()[1]}", element.start())

    def _reason_against(self, elements: list[re.Match[str]]) -> str | None:
        """Why some of the elements are no values of the type; None if all are."""
        tokens = [element.group() for element in elements]
        if self.is_complex and any(token.count(",") != 1 for token in tokens):
            return "is no value of"
        numbers = ",".join(tokens)
        try:
            if tokens:
                blanked = self.brackets.blanked
                self.converted(numbers.translate(blanked) if self.is_complex else numbers)
        except OverflowError:
            return "is out of range for"
        except ValueError:
            return "is no value of"
        return None
