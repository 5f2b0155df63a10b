"""Files that nobody sees a part of while they are written."""

from __future__ import annotations

import os
from pathlib import Path

UNFINISHED = ".part"
"""How the name of a file ends that is being written."""


def replace_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Writes a file beside its place and then puts it there: nobody sees a part of it."""
    beside = path.with_name(f"{path.name}.{os.urandom(8).hex()}{UNFINISHED}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as target:
            target.write(data)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
