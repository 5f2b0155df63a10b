"""
Runs the commands of a page in one process: a list of command lines in JSON on stdin, and for each
its exit code and what it printed on stdout.
"""

import json
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from tools import xla_opt, xla_run

ERRORS_TOO = " 2>&1"


def run(command: str) -> tuple[int, str]:
    """The exit code and the output of a command."""
    output, errors = StringIO(), StringIO()
    if command.endswith(ERRORS_TOO):
        command, errors = command.removesuffix(ERRORS_TOO), output
    tool, *arguments = shlex.split(command)
    with redirect_stdout(output), redirect_stderr(errors):
        match tool:
            case "xla-opt":
                code = xla_opt.main(arguments)
            case "xla-run":
                code = xla_run.main(arguments)
            case "pytest":
                code = int(pytest.main(["-q", "-Werror", "-p", "no:cacheprovider", *arguments]))
            case _:
                raise ValueError(f"a page may not say: {command}")
    if code:
        print(f"$ {command}\n{output.getvalue()}{errors.getvalue()}", file=sys.stderr)
    return code, output.getvalue()


if __name__ == "__main__":
    json.dump([run(command) for command in json.load(sys.stdin)], sys.stdout)
