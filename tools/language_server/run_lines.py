"""RUN lines: the command in a comment that a position is in, and which part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

from lsprotocol.types import CompletionItemKind as Shown
from xdsl.passes import get_pass_option_infos

from lowerings.pipelines import PIPELINES
from lowerings.targets.llvm.machine import MACHINES
from lowerings.universe import toolkit_universe

from .completion import Completions, item, words
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
_TOOLS = {"xla-opt": "xla_opt", "xla-run": "xla_run"}
"""The tools that are completed, and the modules with their command lines."""
_WORD = re.compile(r"[\w-]+")


def completions(line: str) -> Completions | None:
    """What may follow the beginning of a RUN line; None where it is no RUN line."""
    if not _RUN.search(line):
        return None
    command = _COMMAND.split(line)[-1].strip("\n").lstrip()
    tool = command.split(" ", 1)[0]
    if tool not in _TOOLS:
        return words((name for name in _TOOLS if name.startswith(tool)), Shown.Function)
    passes = _PASSES.search(line)
    if passes is not None:
        return _in_pipeline("".join(filter(None, passes.groups())))
    if _TARGET.search(line):
        return words(sorted(toolkit_universe().all_targets), Shown.Constant)
    return _flags(tool) if _FLAG.search(command) else []


def _in_pipeline(text: str) -> Completions:
    option = _OPTION.search(text)
    if option is None:
        to = ((f"{n}{{to=...}}", f"{n}{{to=${{1:level}}}}") for n in PIPELINES)
        return [
            *(item(n, Shown.Module, "pipeline", data={"pass": n}) for n in PIPELINES),
            *(item(label, Shown.Snippet, snippet=snippet) for label, snippet in to),
            *(
                item(name, Shown.Function, "pass", data={"pass": name})
                for name in toolkit_universe().all_passes
            ),
        ]
    options = list(_options(option["pass"]))
    value = re.search(r"([\w-]+)=[\w-]*$", option["given"])
    if value is None:
        return [item(k, Shown.Property, kind, insert=f"{k}=") for k, kind, _ in options]
    wanted = value[1].replace("-", "_")
    return words(
        (each for key, _, found in options if key == wanted for each in found), Shown.Value
    )


def _options(name: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The options of a pass or pipeline: name, type, and the values that can be listed."""
    if name in PIPELINES:
        levels = tuple(stage.level for stage in PIPELINES[name])
        yield "from", "level", levels
        yield "to", "level", levels
        yield "target", "machine", tuple(MACHINES)
    elif (found := pass_class(name)) is not None:
        for option in get_pass_option_infos(found):
            kind = option.expected_type.strip("'")
            literals = tuple(re.findall(r"'([\w.-]+)'", kind))
            yield option.name, kind, ("true", "false") if kind == "bool" else literals


def _flags(tool: str) -> Completions:
    module = import_module(f"{__package__}".rpartition(".")[0] + f".{_TOOLS[tool]}")
    actions = module.make_argument_parser()._actions
    return [item(n, Shown.Property, a.help or "") for a in actions for n in a.option_strings]


def pass_at(line: str, column: int) -> str | None:
    """The word of a RUN line at a column, if that is the name of a pass or pipeline."""
    found = (w.group() for w in _WORD.finditer(line) if w.start() <= column <= w.end())
    name = next(found, "") if _RUN.search(line) else ""
    return name if name in PIPELINES or name in toolkit_universe().all_passes else None
