"""What the language server says of texts that somebody is in the middle of writing."""

from pathlib import Path
from random import Random

import pytest

from lowerings.driver.program import parse_program
from tools.input_text import Chunk
from tools.language_server.checking import check
from tools.language_server.completion import hlo_completions, mlir_completions
from tools.language_server.document import Document
from tools.language_server.formatting import formatted
from tools.language_server.hover import hover_text
from xla_dialect.diagnostics import XlaError

TESTS = Path(__file__).parents[1]
FILES = [
    *("programs/lstm.hlo", "programs/lstm.mlir", "programs/argmax_optimized.hlo"),
    *("run/while.mlir", "loops/convert_contractions.mlir", "dialect/control_flow.mlir"),
]
EXAMPLES = [12, pytest.param(400, marks=pytest.mark.full)]
# The last is half of a character: an editor may send one.
PIECES = [*'{}()"%@=:,\n', "->", "ROOT ", "%0", "x", "{1,0}", "\ud800"]


def text_of(name: str) -> str:
    """A part of a file: what follows is many times as quick."""
    text = (TESTS / name).read_text(encoding="utf-8").split("// -----")[0]
    return text[: text.find("\n}\n", 3_000) + 3] if len(text) > 6_000 else text


def half_typed(text: str, random: Random) -> str:
    """A text with something taken away, put in, or cut off."""
    place = random.randrange(len(text))
    match random.randrange(3):
        case 0:
            return text[:place] + text[place + random.randrange(1, 30) :]
        case 1:
            return text[:place] + random.choice(PIECES) + text[place:]
        case _:
            return text[:place]


def first_error(text: str, name: str) -> str | None:
    try:
        parse_program(text, name, verified=True)
    except XlaError as error:
        return str(error)
    return None


@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("name", FILES)
def test_errors_are_found_exactly_where_reading_fails(name: str, examples: int) -> None:
    text, random = text_of(name), Random(name)
    for _ in range(examples):
        typed = half_typed(text, random)
        if Chunk(typed).is_blank:  # a new file is no error yet
            continue
        problems = [p for p in check(typed, name).problems if p.severity == "Error"]
        error = first_error(typed, name)
        assert bool(problems) == (error is not None), f"{error}\n{problems}\n{typed}"


@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("name", FILES)
def test_every_question_has_an_answer(name: str, examples: int) -> None:
    text, random = text_of(name), Random(f"questions about {name}")
    for _ in range(examples):
        document = Document(half_typed(text, random), name)
        complete = hlo_completions if document.is_hlo else mlir_completions
        for _ in range(20):
            offset = random.randrange(len(document.text) + 1)
            part = document.part_at(offset)
            complete(part.index, offset - part.start)
            hover_text(document, offset)


@pytest.mark.parametrize("name", FILES)
def test_formatted_programs_are_the_same(name: str) -> None:
    text = text_of(name)
    document = Document(text, name)
    if (reason := refusal(document)) is not None:
        assert "would be lost" in reason or first_error(text, name) is not None, reason
        return
    result = formatted(text, name, document.format)
    assert formatted(result, name, document.format) == result
    assert result.count("//") == text.count("//")


def refusal(document: Document) -> str | None:
    try:
        formatted(document.text, document.file_name, document.format)
    except XlaError as error:
        return str(error)
    return None
