"""
Pages that show commands and what they print: the commands are run, and the pages renewed.

A block of a page such as

    ```console
    $ xla-opt rows.hlo -t stablehlo | head -n 1
    module @rows {
    ```

has commands as one types them in a shell, each followed by what it prints, errors included. A block
with a title, ```` ```hlo title="rows.hlo" ````, is a file that the commands after it find in their
folder. The toolkit's own commands, and `python FILE`, run in this process: they start quicker.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory
from textwrap import dedent, indent

from xdsl.xdsl_opt_main import xDSLOptMain

from xla_dialect.diagnostics import XlaError

from .. import xla_compare, xla_layout, xla_opt, xla_run

PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/pipelines.md",
    "docs/python_api.md",
    "docs/stablehlo.md",
    "docs/distributed.md",
    "docs/explorer.md",
    "docs/measuring.md",
    "docs/partitioning.md",
    "docs/planning.md",
    "docs/profiling.md",
    "docs/reading_traces.md",
    "docs/rewrite_rules.md",
    "docs/transform_scripts.md",
)
"""The pages that `make docs` renews."""

BLOCK = re.compile(
    r'^(?P<indent> *)```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)'
    r"^(?P=indent)```$",
    re.M | re.S,
)
_COMMAND = re.compile(r"^\$ (.*)$", re.M)


class CommandError(XlaError):
    """A command of a page that fails without an error that the page shows."""


def _python(arguments: list[str]) -> int:
    run_path(arguments[0], run_name="__main__")
    return 0


def _xdsl_opt(arguments: list[str]) -> int:
    xDSLOptMain(args=arguments).run()
    return 0


_TOOLS: Mapping[str, Callable[[list[str]], int]] = {
    "python": _python,
    "xdsl-opt": _xdsl_opt,
    "xla-compare": xla_compare.main,
    "xla-layout": xla_layout.main,
    "xla-opt": xla_opt.main,
    "xla-run": xla_run.main,
}


def renewed(page: str) -> str:
    """The text of a page, with what its commands print now; raises CommandError if one fails."""
    with TemporaryDirectory() as folder, chdir(folder):

        def renew(block: re.Match[str]) -> str:
            text = dedent(block["text"])
            if block["title"]:
                Path(block["title"]).write_text(text, encoding="utf-8")
            if block["language"] != "console":
                return block[0]
            shown = (f"$ {each}\n{_output(each)}" for each in _COMMAND.findall(text))
            return indent(f"```console\n{''.join(shown)}```", block["indent"])

        return BLOCK.sub(renew, page)


def _output(command: str) -> str:
    """What a command prints; of a pipeline, the first part may be a tool of ours."""
    first, _, rest = command.partition(" | ")
    first = first.removesuffix(" 2>&1")  # both are captured
    tool, *arguments = shlex.split(first)
    if tool not in _TOOLS:
        return _in_shell(command, "")
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        code = _TOOLS[tool](arguments)
    if code and "error: " not in output.getvalue():
        raise CommandError(f"$ {command}\n{output.getvalue()}")
    return _in_shell(rest, output.getvalue()) if rest else output.getvalue()


def _in_shell(command: str, given: str) -> str:
    """What a command of the system prints, given a text to read."""
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", "")))
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    if done.returncode:
        raise CommandError(f"$ {command}\n{done.stdout}{done.stderr}")
    return done.stdout
