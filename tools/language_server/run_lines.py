"""RUN lines: the command in a comment that a position is in, and which part of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module

from xdsl.passes import get_pass_option_infos

from lowerings.pipelines import PIPELINES
from lowerings.targets.llvm.machine import MACHINES
from lowerings.universe import toolkit_universe

from .completion import Suggestion
from .documentation import pass_class

_RUN = re.compile(r"(?://|#)\s*RUN:")
_COMMAND = re.compile(r"[|;&]|&&|RUN:")
_PASSES = re.compile(
    r"""(?:-p|--passes|--pass-pipeline)[ =]\s*
        (?: '(?P<single>[^']*) | "(?P<double>[^"]*) | (?P<plain>[^\s'"]*) )$""",
    re.VERBOSE,
)
_TARGET = re.compile(r"(?:-t|--target)[ =]\s*(?P<name>[\w-]*)$")
_FLAG = re.compile(r"(?:^|\s)(?P<flag>-[\w-]*)$")
_OPTION = re.compile(r"(?P<pass>[\w-]+)\{(?P<given>[^{}]*)$")
_PARSERS = {"xla-opt": "xla_opt", "xla-run": "xla_run"}
"""The tools that are completed, and the modules with their command lines."""
_WORD = re.compile(r"[\w-]+")


def is_run_line(line: str) -> bool:
    """Whether a line is a command of lit."""
    return _RUN.search(line) is not None


def suggestions(line: str) -> list[Suggestion] | None:
    """What may follow the beginning of a RUN line; None where it is no RUN line."""
    if not is_run_line(line):
        return None
    command = _COMMAND.split(line)[-1].strip("\n").lstrip()
    tool = command.split(" ", 1)[0]
    if tool not in _PARSERS:
        return [Suggestion(name, "Function") for name in _PARSERS if name.startswith(tool)]
    passes = _PASSES.search(line)
    if passes is not None:
        return list(_in_pipeline(passes["single"] or passes["double"] or passes["plain"] or ""))
    if _TARGET.search(line):
        return [Suggestion(name, "Constant") for name in sorted(toolkit_universe().all_targets)]
    if _FLAG.search(command):
        return list(_flags(tool))
    return []


def _in_pipeline(text: str) -> Iterable[Suggestion]:
    option = _OPTION.search(text)
    if option is None:
        for name in PIPELINES:
            yield Suggestion(name, "Module", "pipeline")
            yield Suggestion(
                f"{name}{{to=...}}",
                "Snippet",
                insert=f"{name}{{to=",
                snippet=f"{name}{{to=${{1:level}}}}",
            )
        for name in toolkit_universe().all_passes:
            yield Suggestion(name, "Function", "pass")
        return
    name = option["pass"]
    value = re.search(r"([\w-]+)=[\w-]*$", option["given"])
    for key, kind, values in _options(name):
        if value is None:
            yield Suggestion(key, "Property", kind, insert=f"{key}=")
        elif value[1].replace("-", "_") == key:
            yield from (Suggestion(each, "Value") for each in values)


def _options(name: str) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    """The options of a pass or pipeline: name, type, and the values that can be listed."""
    if name in PIPELINES:
        levels = tuple(stage.level for stage in PIPELINES[name])
        yield "from", "level", levels
        yield "to", "level", levels
        yield "target", "machine", tuple(MACHINES)
        return
    found = pass_class(name)
    for option in () if found is None else get_pass_option_infos(found):
        kind = option.expected_type.strip("'")
        literals = tuple(re.findall(r"'([\w.-]+)'", kind))
        yield option.name, kind, ("true", "false") if kind == "bool" else literals


def _flags(tool: str) -> Iterable[Suggestion]:
    module = import_module(f"{__package__}".rpartition(".")[0] + f".{_PARSERS[tool]}")
    for action in module.make_argument_parser()._actions:
        for flag in action.option_strings:
            yield Suggestion(flag, "Property", action.help or "")


def pass_at(line: str, column: int) -> str | None:
    """The word of a RUN line at a column, if that is the name of a pass or pipeline."""
    if not is_run_line(line):
        return None
    for word in _WORD.finditer(line):
        if word.start() <= column <= word.end():
            name = word.group()
            return name if name in PIPELINES or name in toolkit_universe().all_passes else None
    return None
