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
from itertools import repeat

from lowerings.targets.llvm.machine import GLUE, INLINED, Machine

LINES_OF_A_PART = 1000
"""LLVM compiles so many in 30 ms, and takes 1 ms more for each part."""

_FUNCTION = re.compile(r"^define .*?^\}\n", re.MULTILINE | re.DOTALL)
_SYMBOL = re.compile(r'@(?:"[^"]*"|[\w.$-]+)')
_NODE = re.compile(r"!\d+")
_DEFINED = re.compile(r" = .*?\bglobal (\[[^]]*\]|\w+) .*")
"""What follows the symbol of a variable; its type is the group."""


class _Module:
    """The definitions of a module by their symbols."""

    def __init__(self, text: str):
        self.functions = {_first_symbol(found[0]): found[0] for found in _FUNCTION.finditer(text)}
        self.used = {name: _SYMBOL.findall(text) for name, text in self.functions.items()}
        self.inlined = {
            name
            for name, text in self.functions.items()
            if text.partition("\n")[0].endswith(f" {INLINED} {{")
        }
        self.constants: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self.declarations: dict[str, str] = {}
        self.nodes: dict[str, str] = {}
        self.head: list[str] = []
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


def module_parts(text: str, size: int) -> list[Part]:
    """
    The parts of a module as our emitter prints it: what only calls, and the others, of about so
    many lines or twice as many.
    """
    lines = text.count("\n")
    if lines < 2 * size:
        return [Part(text)]
    module = _Module(text)
    least = lines // (lines // size)
    calling: list[str] = []
    parts: list[list[str]] = [[]]
    taken = 0
    for name, function in module.functions.items():
        if function.partition("\n")[0].endswith(f" {GLUE} {{"):
            calling.append(name)
        elif name not in module.inlined:
            if taken >= least:
                parts.append([])
                taken = 0
            parts[-1].append(name)
            taken += function.count("\n")
    return [
        Part(module.part(names, has_variables=not n), level=0 if names is calling else 3)
        for n, names in enumerate(filter(None, (calling, *parts)))
    ]


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


def object_parts(machine: Machine, text: str, threads: int) -> tuple[bytes, ...]:
    """
    Object code for the text of a module, as `Machine.object_code` makes it; that of a large module
    in parts, on so many threads at once. Raises CodeGenerationError.
    """
    parts = module_parts(text, LINES_OF_A_PART)
    # Python starts no threads when it ends, though it compiles.
    if len(parts) == 1 or threads == 1 or not threading.main_thread().is_alive():
        return tuple(part.object_code(machine) for part in parts)
    # Loaded where it is used: small programs do without.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    # After Ctrl-C no part begins, and those that have begun end first.
    with ThreadPoolExecutor(min(threads, len(parts))) as pool:
        return tuple(pool.map(Part.object_code, parts, repeat(machine)))
