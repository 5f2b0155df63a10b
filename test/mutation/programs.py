"""The programs of the repository, and random ones, as texts that a process of its own can read."""

from collections.abc import Iterator
from dataclasses import dataclass

from differential.generation import generate
from laid_out_programs import PROGRAMS, text_of
from run_files import run_files

from tools.repository.programs import stored_programs
from xla_dialect.hlo_text import print_hlo

LARGE = ("lstm", "transformer_block")
"""What takes half a minute: so would each of their trials."""
RANDOM_PROGRAMS = 30


@dataclass(frozen=True)
class Program:
    """A text and its format."""

    name: str
    text: str
    format: str
    origin: str


def programs() -> Iterator[Program]:
    """All of them, but those that are large."""
    for file in run_files():
        if not file.runs_others:
            yield Program(f"test/run/{file.operation}.mlir", file.text, "mlir", "run")
    for stored in stored_programs():
        if stored.name not in LARGE:
            text = stored.stablehlo.read_text(encoding="utf-8")
            yield Program(f"test/programs/{stored.name}.mlir", text, "stablehlo", "stored")
    for name in PROGRAMS:
        yield Program(f"laid out: {name}", text_of(name), "hlo", "laid-out")
    for seed in range(RANDOM_PROGRAMS):
        yield Program(f"random: {seed}", print_hlo(generate(seed).module), "hlo", "random")
