"""
The text of a module in parts that LLVM compiles at once, each a module of its own.

Code of a function is what it is in the whole module, but for variables that parts share: their
addresses are loaded, since code of different parts may come to lie more than 2 GiB apart. Functions
that do little more than call others are a part that is compiled in a hurry, as their attributes
alone do not have LLVM do.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lowerings.targets.llvm.machine import GLUE, INLINED, Machine

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

LINES_OF_A_PART = 1000
"""LLVM compiles so many in 30 ms, and takes 1 ms more for each part."""

_FUNCTION = re.compile(r"^define .*?^\}\n", re.MULTILINE | re.DOTALL)
_SYMBOL = re.compile(r'@(?:"[^"]*"|[\w.$-]+)')
_NODE = re.compile(r"!\d+")
_DEFINED = re.compile(r" = .*?\bglobal (\[[^]]*\]|\w+) .*")
"""What follows the symbol of a variable; its type is the group."""


class _Module:
    """The definitions of a module by their symbols."""

    def __init__(self):
        self.functions: dict[str, str] = {}
        self.used: dict[str, list[str]] = {}
        self.inlined: set[str] = set()
        self.constants: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self.declarations: dict[str, str] = {}
        self.nodes: dict[str, str] = {}
        self.head: list[str] = []

    def add(self, text: str) -> list[str]:
        """Adds what was printed of the module; the symbols of its functions."""
        added = {_first_symbol(found[0]): found[0] for found in _FUNCTION.finditer(text)}
        self.functions |= added
        for name, function in added.items():
            self.used[name] = _SYMBOL.findall(function)
            if _is_of(function, INLINED):
                self.inlined.add(name)
        for line in _FUNCTION.sub("", text).splitlines():
            if line.startswith("@"):
                is_variable = _DEFINED.search(line) is not None
                found = self.variables if is_variable else self.constants
                found[_first_symbol(line)] = line
            elif line.startswith("declare"):
                self.declarations[_first_symbol(line)] = line
            elif line.startswith("!"):
                self.nodes[line.partition(" ")[0]] = line
            else:
                self.head.append(line)
        return list(added)

    def part(self, names: Iterable[str], *, has_variables: bool) -> str:
        """
        A module of some functions, and copies of what is inlined into them. One part has the
        variables of all.
        """
        own = _reached(names, lambda name: self.inlined.intersection(self.used[name]))
        used = dict.fromkeys(symbol for name in own for symbol in self.used[name])
        bodies = [self.functions[name] for name in own]
        nodes = _reached(
            (node for body in bodies for node in _NODE.findall(body)),
            lambda node: _NODE.findall(self.nodes[node]),
        )
        lines = [
            # Passes run where something is said to be inlined.
            *(
                line
                for line in self.head
                if not self.inlined.isdisjoint(own) or f" {INLINED} " not in line
            ),
            *(self.constants[symbol] for symbol in used if symbol in self.constants),
            *(
                _exported(line) if has_variables else _DEFINED.sub(r" = external global \1", line)
                for symbol, line in self.variables.items()
                if has_variables or symbol in used
            ),
            *(
                text if name in self.inlined else _exported(text)
                for name, text in zip(own, bodies, strict=True)
            ),
            *(self.declarations[symbol] for symbol in used if symbol in self.declarations),
            *(
                _declared(self.functions[symbol])
                for symbol in used
                if symbol in self.functions and symbol not in own
            ),
            *(self.nodes[node] for node in nodes),
        ]
        return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Part:
    """A module, and the level that it is compiled at."""

    text: str
    level: int = 3

    def object_code(self, machine: Machine) -> bytes:
        """Raises CodeGenerationError."""
        return machine.object_code(self.text, self.level)


class ObjectParts:
    """
    Object code for the text of a module, as `Machine.object_code` makes it; that of a large module
    in parts, on so many threads at once, and before it is printed to its end. Parts have about
    `LINES_OF_A_PART`; the last one has what only calls, and the variables.
    """

    def __init__(self, machine: Machine, threads: int):
        self._machine = machine
        # Python starts no threads when it ends, though it compiles.
        self._helpers = threads - 1 if threading.main_thread().is_alive() else 0
        self._pool: ThreadPoolExecutor | None = None
        self._module = _Module()
        self._calling: list[str] = []
        self._texts: list[str] = []
        """What was taken since the last part."""
        self._lines = 0
        self._parts: list[tuple[Part, Future[bytes]]] = []

    def __enter__(self) -> ObjectParts:
        return self

    def __exit__(self, *error: object) -> None:
        # After Ctrl-C no part begins, and those that have begun end first.
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def take(self, text: str) -> None:
        """
        Takes what was printed, functions with all that they use; raises CodeGenerationError where
        there is no other thread.
        """
        self._texts.append(text)
        self._lines += text.count("\n")
        if self._lines >= LINES_OF_A_PART:
            self._begin_taken()

    def finish(self, text: str) -> tuple[bytes, ...]:
        """The object code, given the text of the whole module; raises CodeGenerationError."""
        if not self._parts:
            return (Part(text).object_code(self._machine),)
        self._begin_taken()
        if self._calling or self._module.variables:
            self._begin(Part(self._module.part(self._calling, has_variables=True), level=0))
        # The last ones that nobody has begun are left to this thread.
        codes = [
            part.object_code(self._machine) if code.cancel() else code.result
            for part, code in reversed(self._parts)
        ]
        return tuple(code if isinstance(code, bytes) else code() for code in reversed(codes))

    def _begin_taken(self) -> None:
        careful: list[str] = []
        for name in self._module.add("".join(self._texts)):
            if _is_of(self._module.functions[name], GLUE):
                self._calling.append(name)
            elif name not in self._module.inlined:
                careful.append(name)
        self._texts, self._lines = [], 0
        if careful:
            self._begin(Part(self._module.part(careful, has_variables=False)))

    def _begin(self, part: Part) -> None:
        # Loaded where it is used: small programs do without.
        from concurrent.futures import Future, ThreadPoolExecutor  # noqa: PLC0415

        if self._helpers < 1:
            code: Future[bytes] = Future()
            code.set_result(part.object_code(self._machine))
        else:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._helpers)
            code = self._pool.submit(part.object_code, self._machine)
        self._parts.append((part, code))


def _is_of(function: str, group: str) -> bool:
    """Whether a function has a group of attributes."""
    return function.partition("\n")[0].endswith(f" {group} {{")


def _first_symbol(text: str) -> str:
    found = _SYMBOL.search(text)
    assert found is not None
    return found[0]


def _exported(definition: str) -> str:
    """A definition that other parts may use, though nobody outside of the program."""
    return definition.replace(" internal ", " hidden ", 1)


def _declared(function: str) -> str:
    """The declaration of a function that another part defines."""
    head = function.partition("\n")[0].removesuffix(" {")
    return re.sub("^define (internal )?", "declare ", head)


def _reached(start: Iterable[str], following: Callable[[str], Collection[str]]) -> dict[str, None]:
    """What is reached from a start, itself included, in a fixed order."""
    found = dict.fromkeys(start)
    waiting = list(found)
    while waiting:
        new = [each for each in following(waiting.pop()) if each not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return found
