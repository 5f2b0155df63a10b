"""
`xla-new-package NAME`: writes a package with an operation of its own, from JAX to machine code.

The files of the folder `package_template` are the package; `squash_ops` in them and in their names
becomes NAME, and `squash_dialect` the name of its dialect.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError

from .command_line import CommandLine, guarded

PACKAGE, DIALECT = "squash_ops", "squash_dialect"
"""What the files call the package and its dialect."""
TEMPLATE = Path(__file__).with_name("package_template")
SUFFIX = ".template"
"""Behind the names of the files: no tool takes them for what they become."""


def package_name(text: str) -> str:
    """The name of a package that Python can import and that is not taken."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", text) or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no name for a package, such as my_ops")
    if find_spec(text) is not None:
        raise argparse.ArgumentTypeError(
            f"there is a package '{text}' already: choose another name"
        )
    if (dialect := dialect_name(text)) in toolkit_universe().all_dialects:
        raise argparse.ArgumentTypeError(
            f"there is a dialect '{dialect}' already: choose another name"
        )
    return text


def dialect_name(package: str) -> str:
    """What the dialect of a package is called."""
    return package.removesuffix("_ops")


def template_files() -> dict[str, str]:
    """The files of the package, by their names in it."""
    return {
        path.relative_to(TEMPLATE).as_posix().removesuffix(SUFFIX): path.read_text(encoding="utf-8")
        for path in TEMPLATE.rglob(f"*{SUFFIX}")
    }


def write_package(name: str, folder: Path) -> list[Path]:
    """Writes the package into a folder that is new; raises XlaError."""
    written: list[Path] = []
    try:
        folder.mkdir(parents=True)
        for file, text in sorted(template_files().items()):
            path = folder / file.replace(PACKAGE, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            renamed = text.replace(PACKAGE, name).replace(DIALECT, dialect_name(name))
            path.write_text(renamed, encoding="utf-8")
            written.append(path)
    except FileExistsError:
        raise XlaError(f"{folder}: error: it is there already") from None
    except OSError as error:
        raise XlaError(f"{folder}: error: {error.strerror}") from None
    return written


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-new-package; returns the exit code."""

    def body() -> int:
        parser = CommandLine("xla-new-package", "Writes a package with an operation of its own.")
        parser.add_argument("name", type=package_name, help="what Python imports, such as my_ops")
        parser.add_argument("-o", "--output-dir", metavar="DIR", help="where; default: NAME")
        args = parser.parse_args(argv)
        folder = Path(args.output_dir or args.name)
        for path in write_package(args.name, folder):
            print(path)
        print(f"\nnext: cd {folder} && pip install -e '.[test]' && pytest && lit -v tests")
        return 0

    return guarded("xla-new-package", body)


if __name__ == "__main__":
    sys.exit(main())
