"""Options of compilation are declared once, and have the same meaning wherever they stand."""

import argparse
import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest

import lowerings
from lowerings.backends import (
    Options,
    Where,
    compiler_options,
    declared_options,
    fields_of_options,
    options_at,
)
from lowerings.jax import jit
from tools.xla_run import add_option, make_argument_parser
from xla_dialect.diagnostics import XlaError

EXAMPLES = {"int": ("3", 3), "bool": ("true", True), "str": ("a.txt", "a.txt")}


def kind(name: str) -> str:
    return next(str(each.type) for each in fields(Options) if each.name == name).split(" ")[0]


@pytest.mark.parametrize("name", options_at(Where.DEVICE))
def test_options_of_the_device_are_fields(name: str) -> None:
    text, value = EXAMPLES[kind(name)]
    assert fields_of_options(compiler_options({f"xdsl_{name}": text})) == {name: value}
    if kind(name) != "str":
        with pytest.raises(XlaError, match=f"xdsl_{name}, 'no such' is not a valid"):
            compiler_options({f"xdsl_{name}": "no such"})


@pytest.mark.parametrize("name", [n for n, f in declared_options().items() if f.metavar])
def test_command_lines_have_them_as_they_are_declared(name: str) -> None:
    text, value = EXAMPLES[kind(name)]
    parser = argparse.ArgumentParser()
    action = add_option(parser, name)
    assert getattr(parser.parse_args([f"--{name.replace('_', '-')}", text]), name) == value
    assert getattr(parser.parse_args([]), name) == getattr(Options(), name)
    help_of_tool = " ".join(make_argument_parser().format_help().split())
    assert " ".join(str(action.help).split()) in help_of_tool


def test_jit_has_those_of_the_device() -> None:
    for name in declared_options():
        if name not in {*options_at(Where.DEVICE), "profile"}:
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
                jit(**cast(Any, {name: None}))


def test_misspelled_ones_are_told() -> None:
    with pytest.raises(TypeError, match="no option 'pipelin'; did you mean 'pipeline'"):
        lowerings.compile("", pipelin="native")


def test_signatures_have_them() -> None:
    found = inspect.signature(lowerings.compile).parameters
    assert found.keys() >= declared_options().keys()
    assert found["check_bounds"].default is None
    assert "options" not in found
    assert inspect.signature(jit).parameters.keys() >= set(options_at(Where.DEVICE))
    assert "replicas" not in inspect.signature(jit).parameters


@pytest.mark.parametrize("name", options_at(Where.FILE))
def test_the_content_of_files_decides(name: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    options: Any = {name: file}
    before = Options(**options).decisions()
    file.write_text("two")
    assert Options(**options).decisions() == before | {name: "two"}
