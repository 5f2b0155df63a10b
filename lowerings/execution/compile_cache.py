"""
Compiled programs on disk, by what they were compiled from.

An entry is found by a hash of all that decides its content, this toolkit's sources included, and
is checked when it is read. What is wrong with an entry, or with the folder, makes programs compile
as if there were no cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import stat
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from lowerings.execution.compiled_code import CompiledCode
from lowerings.targets.llvm.machine import host
from xla_dialect.extensions import CONVERSIONS, LLVM_HANDLERS, has_extensions
from xla_dialect.runtime.whole_files import UNFINISHED, replace_file

CACHE_VARIABLE = "XLA_COMPILE_CACHE"
"""In the environment: a folder, 1 for `default_folder()`, or 0 for none."""
SIZE_LIMIT = 1 << 30
"""Bytes that entries may take; beyond, those that were not used for the longest time go."""
_MAGIC = b"xla-dialect code 2\n"
_SUFFIX = ".code"
_LONGEST_WRITE = 3600.0
"""Seconds; what is not finished after them was left by a process that has ended."""
_LOADED = time.time_ns()
"""When this module was loaded."""
_TOOLKIT = ("lowerings", "xla_dialect")
_PACKAGES = ("xdsl", "llvmlite", "numpy", "ml_dtypes")


def default_folder() -> Path | None:
    """
    Where entries are if nothing else is said, by the XDG Base Directory Specification, which has
    relative paths ignored; None for a user without a home.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.cache")
    return Path(base, "xla-dialect") if os.path.isabs(base) else None


@dataclass(frozen=True)
class CompileCache:
    """A folder of compiled programs, for its owner only."""

    folder: Path
    size_limit: int = SIZE_LIMIT
    entry_limit: int = SIZE_LIMIT
    """Bytes of the largest program that is kept."""

    @staticmethod
    def of(option: CacheOption) -> CompileCache | None:
        """
        The cache for an option: a folder, True for the usual one, False for none, None as the
        environment says.
        """
        if isinstance(option, CompileCache):
            return option
        if option is None:
            option = os.environ.get(CACHE_VARIABLE, "")
            option = {"": False, "0": False, "1": True}.get(option, option)
        folder = default_folder() if option is True else option
        return CompileCache(Path(folder)) if folder else None

    @staticmethod
    def of_everything() -> CompileCache | None:
        """
        The usual one, for a caller who keeps all programs and has not been asked to: as the
        environment says, where it does; none for a user without a home.
        """
        if CACHE_VARIABLE in os.environ:
            return CompileCache.of(None)
        folder = default_folder()
        return None if folder is None else CompileCache(folder, entry_limit=SIZE_LIMIT // 64)

    def load(self, key: str) -> CompiledCode | None:
        """The program for a key; None if there is none that can be trusted."""
        path = self.folder / (key + _SUFFIX)
        try:
            if not self._is_private():
                return None
            # In a private folder nobody puts another file there meanwhile.
            found = os.lstat(path)
            if not (stat.S_ISREG(found.st_mode) and _is_own(found)):
                return None
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        start = len(_MAGIC) + hashlib.sha256().digest_size
        content = data[start:]
        return pickle.loads(content) if data[:start] == _MAGIC + _digest(key, content) else None

    def store(self, key: str, code: CompiledCode) -> None:
        """Writes a program; does nothing where that is not possible."""
        content = pickle.dumps(code)
        if len(content) > self.entry_limit:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._is_private():
                data = _MAGIC + _digest(key, content) + content
                replace_file(self.folder / (key + _SUFFIX), data, 0o600)
                self._count(len(content))

    def _is_private(self) -> bool:
        """Whether the folder is this user's, and nobody else can look into it."""
        found = os.lstat(self.folder)
        return stat.S_ISDIR(found.st_mode) and _is_own(found) and not found.st_mode & 0o077

    def _count(self, added: int) -> None:
        """
        Makes room once it is known to be needed. What the folder has is looked up for the first
        entry of a process, and of thousands that takes as long as compiling; others are counted.
        """
        known = _known_sizes.get(self.folder)
        total = self.size_limit + 1 if known is None else known + added
        _known_sizes[self.folder] = self._evict() if total > self.size_limit else total

    def _evict(self) -> int:
        """
        Removes entries, those not used for the longest time first, until the rest is allowed, and
        what killed processes have left. Returns the bytes that the rest takes.
        """
        entries: list[tuple[float, int, str]] = []
        with os.scandir(self.folder) as found:
            for each in found:
                with contextlib.suppress(FileNotFoundError):
                    status = each.stat(follow_symlinks=False)
                    if not stat.S_ISREG(status.st_mode):
                        continue
                    if each.name.endswith(_SUFFIX):
                        entries.append((status.st_mtime, status.st_size, each.path))
                    elif each.name.endswith(UNFINISHED):
                        if status.st_mtime < time.time() - _LONGEST_WRITE:
                            os.unlink(each.path)
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.size_limit:
                break
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            total -= size
        return total


CacheOption: TypeAlias = CompileCache | bool | str | Path | None
"""What `CompileCache.of` takes."""

_known_sizes: dict[Path, int] = {}
"""The bytes that entries take in folders, as far as this process knows."""


@dataclass(frozen=True)
class CacheEntry:
    """The place of one program in a cache."""

    cache: CompileCache
    key: str

    @staticmethod
    def of(cache: CompileCache | None, parts: Sequence[Any]) -> CacheEntry | None:
        """
        The place of what is compiled from `parts`, which JSON can spell: the text of the program
        and the options.

        None without a cache, where installed packages add conversions whose content is not known,
        and where this toolkit was changed since it was loaded.
        """
        if cache is None or has_extensions(CONVERSIONS) or has_extensions(LLVM_HANDLERS):
            return None
        toolkit = toolkit_fingerprint()
        if toolkit is None:
            return None
        machine = host()
        decides = [
            *(toolkit, machine.triple, machine.cpu, machine.features),
            *parts,
        ]
        return CacheEntry(cache, hashlib.sha256(json.dumps(decides).encode()).hexdigest())

    def load(self) -> CompiledCode | None:
        """The program, if it is there."""
        return self.cache.load(self.key)

    def store(self, code: CompiledCode) -> None:
        """Puts the program there."""
        self.cache.store(self.key, code)


def _is_own(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _digest(key: str, content: bytes) -> bytes:
    """Of an entry and its name: none is taken for another."""
    return hashlib.sha256(key.encode() + content).digest()


def _sources() -> tuple[bytes, int]:
    """
    Name, size and time of the last change of every source file of this toolkit, and the latest
    of these times, in nanoseconds.

    The time that the system keeps of changes, which no program sets, tells as much as the content
    does, and is read ten times as fast.
    """
    root = str(Path(__file__).parents[2])
    lines: list[str] = []
    latest = 0
    for package in _TOOLKIT:
        for folder, _, names in os.walk(f"{root}/{package}"):
            for name in names:
                if not name.endswith(".py"):
                    continue
                # Locks of editors are links to nothing.
                with contextlib.suppress(FileNotFoundError):
                    status = os.stat(f"{folder}/{name}")
                    latest = max(latest, status.st_ctime_ns)
                    lines.append(f"{folder}/{name} {status.st_size} {status.st_ctime_ns}")
    return "\n".join(sorted(lines)).encode(), latest


@cache
def toolkit_fingerprint() -> str | None:
    """
    A hash of this toolkit's sources and of the versions of what it stands on; None where sources
    have changed since they were loaded, for then nobody knows what is running. After a later change
    a process goes on with the hash of before, which no other will have.
    """
    sources, latest = _sources()
    if latest >= _LOADED:
        return None
    found = hashlib.sha256(sys.version.encode() + sources)
    for name in _PACKAGES:
        found.update(f"{name} {version(name)}\n".encode())
    return found.hexdigest()
