"""
The programs of test/run: a file per operation, which every executor has to run alike.

A file is a module of the xla dialect whose public functions take no arguments. A line such as

    // for f32 in floats

before a function repeats it for other element types: it stands for each of them in turn, where it
is an element type in the function; functions that it names are repeated likewise. The words are
names of element types as MLIR spells them, and those of `CLASSES`. So the files run by hand as they
are, with the one type of their text;

    python test/run_files.py test/run/add.mlir | xla-run - --all-functions --backend llvm

runs them with all.
"""

import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Region

from lowerings.driver.program import parse_program
from xla_dialect.types import ELEMENT_TYPES, ElementClass, tuple_elements

FOLDER = Path(__file__).parent / "run"


def names_of(elements: ElementClass) -> tuple[str, ...]:
    """The element types of a class, as MLIR spells them."""
    return tuple(str(each.type) for each in ELEMENT_TYPES if each.element_class & elements)


CLASSES: Mapping[str, tuple[str, ...]] = {
    "floats": names_of(ElementClass.FLOAT),
    "signed": names_of(ElementClass.SIGNED),
    "unsigned": names_of(ElementClass.UNSIGNED),
    "integers": names_of(ElementClass.INTEGER),
    "pred": names_of(ElementClass.PRED),
    # The floats that complex numbers have as parts.
    "parts": ("f32", "f64"),
    "types": tuple(str(each.type) for each in ELEMENT_TYPES),
}

ASK_THEIR_PROCESS = (
    *("all_gather", "all_gather_start", "all_reduce", "all_reduce_start", "all_to_all"),
    *("collective_broadcast", "collective_permute", "collective_permute_start"),
    *("infeed", "outfeed", "partition_id", "ragged_all_to_all", "reduce_scatter", "replica_id"),
    *("rng", "rng_get_and_update_state", "send"),
)
"""Operations that no emulated processor runs: nothing of ours can be called there."""

COMPUTED_ALIKE: tuple[tuple[str, ...], ...] = (
    *(("i1",), ("si1", "i2", "i4"), ("i8", "i16"), ("i32", "i64")),
    *(("ui1", "ui2", "ui4"), ("ui8", "ui16"), ("ui32", "ui64")),
    ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN"),
    ("f8E3M4", "f8E4M3", "f8E4M3FN", "f8E5M2"),
    ("f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2FNUZ", "f8E8M0FNU"),
    *(("bf16",), ("f16",), ("f32",), ("f64",), ("complex<f32>",), ("complex<f64>",)),
)
"""The element types; between those of a group only widths or rows of a table differ."""

_REPEATED = re.compile(
    r"^// for (?P<type>\w+) in (?P<words>[\w<> ]+)\n(?P<text>func\.func (?:private )?@\w+\(.*?^}\n)",
    re.M | re.S,
)
_NAME = re.compile(r"@(\w+)")


def _repeated(text: str, choose: Callable[[Sequence[str]], Sequence[str]]) -> str:
    """A file with its repeated functions for those of their element types that are chosen."""

    def repeat(found: re.Match[str]) -> str:
        names = [name for word in found["words"].split() for name in CLASSES.get(word, (word,))]
        return "\n".join(_of_types(found, choose(names)))

    return _REPEATED.sub(repeat, text)


def _of_types(found: re.Match[str], names: Sequence[str]) -> Iterator[str]:
    """The text of a repeated function for each of these element types."""
    placeholder = re.compile(rf"(?<=[x<]){found['type']}(?=[>,])")
    for name in names:
        text = placeholder.sub(name, found["text"])
        suffix = name.replace("<", "_").removesuffix(">")
        yield _NAME.sub(rf"@\1_{suffix}", text)


@dataclass(frozen=True)
class RunFile:
    """One file, by the name of its operation: `dynamic_slice`."""

    operation: str

    @property
    def path(self) -> Path:
        """Where it is."""
        return FOLDER / f"{self.operation}.mlir"

    @cached_property
    def text(self) -> str:
        """What stands in it: every function once."""
        return self.path.read_text(encoding="utf-8")

    @property
    def runs_others(self) -> bool:
        """Whether functions of it run others, each as a program, on several processes."""
        return "run_parallel" in self.text

    @cached_property
    def of_every_type(self) -> str:
        """Every function for each of its element types."""
        return _repeated(self.text, lambda names: names)

    @cached_property
    def of_every_kind(self) -> str:
        """
        Every function for one of its element types of each group of `COMPUTED_ALIKE`.

        Which one that is depends on the file: all have their turn.
        """
        turn = zlib.crc32(self.operation.encode())

        def one_of_each(names: Sequence[str]) -> list[str]:
            groups = [[name for name in group if name in names] for group in COMPUTED_ALIKE]
            return [group[turn % len(group)] for group in groups if group]

        return _repeated(self.text, one_of_each)


def run_files() -> tuple[RunFile, ...]:
    """All files by name."""
    return tuple(RunFile(path.stem) for path in sorted(FOLDER.glob("*.mlir")))


ALL = "every_function"
"""The function that `together` adds."""


@dataclass(frozen=True)
class Together:
    """A module with a function that calls all others, and whose each of its results is."""

    module: ModuleOp
    owners: tuple[str, ...]
    """For every array of the results the function that it is of, and its number: `@floats_f16 #0`."""


def leaf_count(type_: Attribute) -> int:
    """How many arrays a value of a type has, tuples taken apart."""
    elements = tuple_elements(type_)
    return 1 if elements is None else sum(map(leaf_count, elements))


def together(text: str, file_name: str) -> Together:
    """The module of a file, with the function `ALL`: one program to compile for the whole file."""
    module = parse_program(text, file_name, "mlir", verified=True)
    functions = [
        op
        for op in module.ops
        if isinstance(op, func.FuncOp) and op.sym_visibility is None and not op.is_declaration
    ]
    block = Block()
    owners: list[str] = []
    for op in functions:
        call = func.CallOp(op.sym_name.data, [], list(op.function_type.outputs))
        block.add_op(call)
        count = sum(map(leaf_count, call.result_types))
        owners += [f"@{op.sym_name.data} #{n}" for n in range(count)]
    returned = [result for op in block.ops for result in op.results]
    block.add_op(func.ReturnOp(*returned))
    types = [value.type for value in returned]
    module.body.block.add_op(func.FuncOp(ALL, ([], types), Region(block)))
    return Together(module, tuple(owners))


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        sys.stdout.write(RunFile(Path(argument).stem).of_every_type)
