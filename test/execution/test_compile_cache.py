"""Machine code on disk: found again, never trusted where something is wrong, never too much."""

import contextlib
import os
import socket
import stat
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowerings
from lowerings import executors
from lowerings.execution import compile_cache
from lowerings.execution.compile_cache import CACHE_VARIABLE, CacheEntry, CompileCache
from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.executable import checks_bounds
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.targets.llvm.machine import CodeGenerationError
from tools import xla_run
from xla_dialect.diagnostics import XlaError

ADD = """HloModule m, entry_computation_layout={(f32[2,3]{0,1}, f32[2,3]{1,0})->f32[2,3]{0,1}}
ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  ROOT z = f32[2,3] add(x, y)
}
"""
ROOT = Path(compile_cache.__file__).parents[2]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def sources_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edits of the sources while the tests run would disable the cache."""
    monkeypatch.setattr(compile_cache, "_LOADED", 1 << 63)
    monkeypatch.setattr(compile_cache, "_known_sizes", {})
    compile_cache.toolkit_fingerprint.cache_clear()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one for each program that goes through the compiler."""
    calls: list[str] = []
    real = executors.compile_loops_module

    def counting(*arguments: Any, **options: Any) -> Any:
        calls.append("compiled")
        return real(*arguments, **options)

    monkeypatch.setattr(executors, "compile_loops_module", counting)
    return calls


def run(folder: object, text: str = ADD, **options: Any) -> None:
    program = lowerings.compile(text, compile_cache=folder, **options)  # pyright: ignore[reportArgumentType]
    np.testing.assert_array_equal(program(X, X)[0], X + X)
    assert str(program.signature) == "main(%x: f32[2,3]{0,1}, %y: f32[2,3]) -> (f32[2,3]{0,1})"


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_a_program_is_compiled_once(tmp_path: Path, compiled: list[str]) -> None:
    folder = tmp_path / "deep" / "cache"
    for _ in range(3):
        run(folder)
    assert len(compiled) == 1
    (entry,) = entries(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


def test_what_decides_the_code_is_compiled_anew(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "c")
    run(tmp_path / "c", ADD + "\n")
    run(tmp_path / "c", check_bounds=not compile_cache_checks())
    lowerings.compile(ADD, compile_cache=tmp_path / "c", donate=[1])
    monkeypatch.setattr(compile_cache, "toolkit_fingerprint", lambda: "other sources")
    run(tmp_path / "c")
    assert len(compiled) == len(entries(tmp_path / "c")) == 5


def compile_cache_checks() -> bool:
    return checks_bounds(None)


def test_a_loaded_program_keeps_its_limits_and_checks(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "programs" / "lstm.mlir").read_text()
    for _ in range(2):
        program = lowerings.compile(text, compile_cache=tmp_path / "c", time_limit=60)
        assert program.signature.parameters
        with pytest.raises(XlaError, match="the limit is 10"):
            lowerings.compile(text, compile_cache=tmp_path / "c", memory_limit=10)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other"])
def test_a_damaged_entry_is_compiled_anew(damage: str, tmp_path: Path, compiled: list[str]) -> None:
    folder = tmp_path / "c"
    run(folder)
    (entry,) = entries(folder)
    good = entry.read_bytes()
    middle = len(good) // 2
    bad = {
        "cut": good[:-1],
        "flipped": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
        "empty": b"",
        "other": b"#!/bin/sh\n",
    }[damage]
    entry.write_bytes(bad)
    run(folder)
    assert len(compiled) == 2
    assert entry.read_bytes() == good
    run(folder)
    assert len(compiled) == 2


@pytest.mark.parametrize("kind", ["fifo", "folder", "socket", "unreadable", "loop", "dangling"])
def test_what_is_no_file_is_no_entry(kind: str, tmp_path: Path, compiled: list[str]) -> None:
    folder = tmp_path / "c"
    run(folder)
    (entry,) = entries(folder)
    good = entry.read_bytes()
    entry.unlink()
    match kind:
        case "fifo":
            os.mkfifo(entry, 0o600)
        case "folder":
            (entry / "below").mkdir(parents=True, mode=0o700)
        case "socket":
            with socket.socket(socket.AF_UNIX) as held, contextlib.chdir(folder):
                held.bind(entry.name)
        case "unreadable":
            entry.touch(0o000)
        case _:
            entry.symlink_to(entry.name if kind == "loop" else "elsewhere")
    run(folder)
    run(folder)
    assert entries(folder) == [entry]
    assert len(compiled) == (3 if kind == "folder" else 2)
    assert kind == "folder" or entry.read_bytes() == good


@pytest.mark.parametrize("kind", ["fifo", "loop", "file"])
def test_what_is_no_folder_keeps_nothing(kind: str, tmp_path: Path, compiled: list[str]) -> None:
    folder = tmp_path / "c"
    match kind:
        case "fifo":
            os.mkfifo(folder, 0o600)
        case "loop":
            folder.symlink_to(folder.name)
        case _:
            folder.touch(0o600)
    run(folder)
    run(folder / "below")
    assert entries(tmp_path) == [folder]
    assert len(compiled) == 2


def test_room_is_made_beside_what_is_no_entry(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c", size_limit=1500)
    cache.store("a", code(1000))
    for name in ("b.code", "b.part"):
        (cache.folder / name).mkdir()
    os.utime(cache.folder / "a.code", (1, 1))
    compile_cache._known_sizes.clear()
    cache.store("c", code(1000))
    assert cache.load("a") is None
    assert cache.load("c") is not None


def test_an_entry_under_the_name_of_another_is_not_taken(
    tmp_path: Path, compiled: list[str]
) -> None:
    folder = tmp_path / "c"
    run(folder)
    other = ADD.replace("add(x, y)", "add(y, x)")
    run(folder, other)
    first, second = entries(folder)
    second.write_bytes(first.read_bytes())
    run(folder)
    run(folder, other)
    assert len(compiled) == 3


def test_a_folder_or_entry_that_others_can_change_is_not_used(
    tmp_path: Path, compiled: list[str]
) -> None:
    folder = tmp_path / "c"
    run(folder)
    folder.chmod(0o755)
    run(folder)
    assert len(compiled) == 2
    folder.chmod(0o700)
    (entry,) = entries(folder)
    entry.chmod(0o666)
    run(folder)
    assert len(compiled) == 3
    link = tmp_path / "link"
    link.symlink_to(folder)
    run(link)
    assert len(compiled) == 4


def test_programs_that_call_out_are_not_kept(tmp_path: Path) -> None:
    text = ADD.partition("\n")[2].replace("add(x", "custom-call(x")
    text = "HloModule m\n" + text.replace("(x, y)", '(x, y), custom_call_target="f"')
    for _ in range(2):
        with pytest.raises(XlaError, match="'f'"):
            lowerings.compile(text, compile_cache=tmp_path)
        program = lowerings.compile(
            text, compile_cache=tmp_path, custom_calls={"f": lambda _, x, y: x - y}
        )
        assert not program(X, X)[0].any()
    assert not entries(tmp_path)


def code(size: int) -> CompiledCode:
    signature = Signature((ArraySpec.of("f32", 2),), ())
    return CompiledCode((bytes(size),), "main", signature, None, (), None, False)


def test_the_oldest_entries_go(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c", size_limit=4500)
    for number in range(3):
        cache.store(f"k{number}", code(1000))
        age = time.time() - 100 + number
        os.utime(cache.folder / f"k{number}.code", (age, age))
    assert cache.load("k0") is not None  # used just now
    cache.store("k3", code(1000))
    kept = [number for number in range(4) if cache.load(f"k{number}") is not None]
    assert 1 not in kept
    assert {0, 3} <= set(kept)


def test_what_killed_writers_left_goes(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c")
    cache.folder.mkdir(mode=0o700)
    old, young = cache.folder / "old.part", cache.folder / "young.part"
    for path in (old, young):
        path.write_bytes(b"half")
    then = time.time() - 10_000
    os.utime(old, (then, then))
    cache.store("l", code(10))
    assert not old.exists()
    assert young.exists()
    assert cache.load("l") is not None


def test_the_environment_switches_it_on(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(CACHE_VARIABLE, "1")
    run(None)
    run(None)
    assert len(entries(tmp_path / "xla-dialect")) == 1
    run(False)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "named"))
    run(None)
    monkeypatch.setenv(CACHE_VARIABLE, "0")
    run(None)
    assert len(entries(tmp_path / "named")) == 1
    assert len(compiled) == 4


def test_the_users_caches_lie_where_the_specification_says(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv(CACHE_VARIABLE, "1")
    for relative in ("", "caches", "./caches", "../caches"):
        monkeypatch.setenv("XDG_CACHE_HOME", relative)
        run(None)
        assert not entries(tmp_path / "here")
    assert entries(tmp_path) == [tmp_path / "here", tmp_path / "home"]
    assert len(entries(tmp_path / "home" / ".cache" / "xla-dialect")) == len(compiled) == 1
    monkeypatch.setenv("HOME", "home")
    run(None)
    assert not entries(tmp_path / "here")
    assert len(compiled) == 2


def test_other_conversions_switch_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CompileCache(tmp_path)
    assert CacheEntry.of(cache, []) is not None
    monkeypatch.setattr(compile_cache, "has_extensions", lambda _: True)
    assert CacheEntry.of(cache, []) is None


def test_changed_sources_switch_it_off(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "c")
    monkeypatch.setattr(compile_cache, "_LOADED", 0)
    compile_cache.toolkit_fingerprint.cache_clear()
    run(tmp_path / "c")
    compile_cache.toolkit_fingerprint.cache_clear()
    assert len(compiled) == 2
    assert len(entries(tmp_path / "c")) == 1


def test_on_the_command_line(
    tmp_path: Path, compiled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "add.hlo"
    path.write_text(ADD)
    command = [str(path), "--compile-cache", str(tmp_path / "c"), "--input", "2x3xf32=1"]
    for _ in range(2):
        assert xla_run.main([*command, "--input", "2x3xf32=2", "--expected-output=2x3xf32=3"]) == 0
    assert len(entries(tmp_path / "c")) == 1


def test_options_are_checked_before_the_cache(tmp_path: Path) -> None:
    run(tmp_path / "c")
    with pytest.raises((XlaError, CodeGenerationError), match="num_threads is 0"):
        lowerings.compile(ADD, compile_cache=tmp_path / "c", num_threads=0)


def test_too_large_programs_are_not_kept(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c", entry_limit=2000)
    for size in (1000, 3000):
        cache.store(f"of {size}", code(size))
    assert [path.name for path in entries(cache.folder)] == ["of 1000.code"]


def test_who_keeps_everything_goes_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(CACHE_VARIABLE, "0")
    assert CompileCache.of_everything() is None
    monkeypatch.delenv(CACHE_VARIABLE)
    usual = CompileCache.of_everything()
    assert usual is not None
    assert usual.folder == tmp_path / "xla-dialect"
    assert CompileCache.of(usual) is usual
    assert usual.entry_limit < usual.size_limit


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", CACHE_VARIABLE):
        monkeypatch.delenv(name, raising=False)

    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert CompileCache.of_everything() is None


def test_a_lock_of_an_editor_is_no_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").touch()
    monkeypatch.setattr(compile_cache, "_TOOLKIT", (os.path.relpath(package, ROOT),))
    before = compile_cache.toolkit_fingerprint()
    compile_cache.toolkit_fingerprint.cache_clear()
    (package / ".#module.py").symlink_to("somebody@somewhere.1")
    assert compile_cache.toolkit_fingerprint() == before
