"""
The wheel: which modules it has, that its commands run without a checkout, and that whoever has no
more than it can follow the README.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest
from test_architecture import imports

from tools import commands
from tools.command_line import sample_names
from tools.explorer.page import LIBRARIES, MODULES, NOTICES
from tools.new_package import SUFFIX, template_files
from tools.repository.shown_commands import BLOCK

ROOT = Path(__file__).parents[2]
COMMANDS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
    "scripts"
]

WEB = {"page.html", "style.css", *(f"{name}.js" for name in MODULES), LIBRARIES, NOTICES}
"""What the page of `xla-opt --explore` is made of."""

PROGRAM = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = xla.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([sys.executable, *build, "--wheel-dir", folder, ROOT], check=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with the wheel, and the dependencies of this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install = ["-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel]
    subprocess.run([sys.executable, *install], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


def files_of(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_it_has_the_library_in_c_for_its_platform(wheel: Path) -> None:
    assert "lowerings/runtime/libxla_runtime.so.1" in files_of(wheel)
    assert "lowerings/runtime/build_hook.py" not in files_of(wheel)
    machine = sysconfig.get_platform().removeprefix("linux-")
    assert wheel.name.endswith(f"-py3-none-manylinux_2_17_{machine}.whl")


def test_packages(wheel: Path) -> None:
    folders = {name.split("/")[0] for name in files_of(wheel)}
    packages = {name for name in folders if not name.endswith(".dist-info")}
    assert packages == {"xla_dialect", "lowerings", "xla_dialect_tools"}


def test_tools_are_those_of_the_commands(wheel: Path) -> None:
    """No module is missing, and none is there that no command needs."""
    scripts = [getattr(commands, entry.split(":")[1]) for entry in COMMANDS.values()]
    left = ["tools.commands", *(f"tools.{script.args[1]}" for script in scripts)]
    # Loaded by name: the first when there is a program, the others for options that few use.
    left += ["tools.opt_main", "tools.memory_report"]
    left += ["tools.explorer.exploration", "tools.reduce.running"]
    left += [f"tools.language_server.{name}" for name in ("features", "checking", "server")]
    # What suites of lit load.
    left += [f"tools.serving.{name}" for name in ("client", "lit", "server")]
    needed: set[str] = set()
    while left:
        module = left.pop()
        if module not in needed:
            needed.add(module)
            left += [name for name, _ in imports(module) if name.startswith("tools.")]
    places = {name.removeprefix("tools.").replace(".", "/") for name in needed}
    folders = {place.rpartition("/")[0] for place in places if "/" in place}
    files = {f"{place}.py" for place in places - folders} | {"__init__.py"}
    files |= {f"{folder}/__init__.py" for folder in folders}
    files.add("driver.c")
    files |= {f"samples/{name}.mlir" for name in sample_names()}
    files |= {f"package_template/{name}{SUFFIX}" for name in template_files()}
    files |= {f"explorer/web/{name}" for name in WEB}
    assert {
        name.removeprefix("xla_dialect_tools/")
        for name in files_of(wheel)
        if name.startswith("xla_dialect_tools/")
    } == files


def test_nothing_is_called_tools(bin_folder: Path) -> None:
    finding = "import importlib.util as u, sys; sys.exit(u.find_spec('tools') is not None)"
    assert subprocess.run([bin_folder / "python", "-c", finding], cwd="/").returncode == 0


ALL_COMMANDS = """
import sys
from importlib.metadata import distribution

for each in distribution("xla-dialect").entry_points.select(group="console_scripts"):
    sys.argv = [each.name, "--help"]
    try:
        each.load()()
    except SystemExit as ended:
        assert not ended.code, each
"""


def test_help(bin_folder: Path) -> None:
    """Of all commands, in one process."""
    command = [bin_folder / "python", "-c", ALL_COMMANDS]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"^usage: ([\w-]+)", done.stdout, re.M)) == sorted(COMMANDS)
    assert {path.name for path in bin_folder.glob("xla-*")} == COMMANDS.keys()


def test_a_program_is_lowered_and_run(bin_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "twice.mlir"
    path.write_text(PROGRAM)
    for command in (
        ["xla-opt", path, "-p", "native{to=buffers}", "--timing", "--print-memory"],
        ["xla-run", path, "--input", "2xf32=[1,2]"],
    ):
        done = subprocess.run(
            [bin_folder / command[0], *command[1:]], cwd="/", capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert "[2" in done.stdout
    assert "4" in done.stdout


@pytest.fixture(scope="module")
def newcomer(bin_folder: Path) -> dict[str, str]:
    """The variables with which somebody runs commands who has installed the wheel."""
    # Tests of other files, which ran in this process before, may have set JAX up.
    ours = ("PYTHON", "JAX_")
    others = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    return {**others, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}


def run(line: str, folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.jax
def test_the_readme_is_followed(newcomer: dict[str, str], bin_folder: Path, tmp_path: Path) -> None:
    """From top to bottom in an empty folder, with what it shows of what commands print."""
    # Stock xdsl-opt is a command of another package.
    script = f"#!{bin_folder}/python\nfrom xdsl.tools.xdsl_opt import main\nmain()\n"
    (bin_folder / "xdsl-opt").write_text(script)
    (bin_folder / "xdsl-opt").chmod(0o755)
    followed = 0
    for block in BLOCK.finditer((ROOT / "README.md").read_text(encoding="utf-8")):
        text = dedent(block["text"])
        if block["title"]:
            (tmp_path / block["title"]).write_text(text, encoding="utf-8")
            continue
        console = block["language"] == "console"
        parts = re.split(r"^\$ ", text, flags=re.M)[1:] if console else text.splitlines()
        for line, _, shown in (part.partition("\n") for part in parts):
            done = run(line, tmp_path, newcomer)
            assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"
            assert not console or done.stdout == shown, line
            followed += 1
    assert followed >= 10
    assert (tmp_path / "attention.html").stat().st_size > 100_000


def test_every_sample_is_run(newcomer: dict[str, str], tmp_path: Path) -> None:
    listed = run("xla-run --example list", tmp_path, newcomer).stdout.split()
    assert listed == sample_names()
    assert len(listed) == 40
    done = run("xla-run --example softmax --reference reference", tmp_path, newcomer)
    assert "as on reference" in done.stdout, done.stderr
    wrong = run("xla-opt --example softmac", tmp_path, newcomer)
    assert wrong.stderr.startswith("xla-opt: error: there is no example 'softmac'")
    assert run("xla-opt --example softmax other.mlir", tmp_path, newcomer).returncode == 1


def test_a_missing_extra_is_named(newcomer: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError('none', name='pygls')\n")
    done = run("xla-lsp-server", tmp_path, newcomer | {"PYTHONPATH": str(tmp_path)})
    message = "xla-lsp-server: error: it needs pygls: pip install 'xla-dialect[lsp]'\n"
    assert (done.returncode, done.stderr) == (1, message)
    done = run("xla-lsp-server --help", tmp_path, newcomer | {"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, "")
    assert "--port" in done.stdout


@pytest.mark.jax
def test_a_new_package_works_at_once(
    newcomer: dict[str, str], bin_folder: Path, tmp_path: Path
) -> None:
    """Its own tests: reference, machine code, rules, pass, FileCheck, JAX, the device."""
    done = run("xla-new-package my_ops", tmp_path, newcomer)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "my_ops"
    texts = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    assert not any("squash_ops" in text or "squash_dialect" in text for text in texts)
    install = ["-m", "pip", "--python", bin_folder / "python", "install", "--quiet", "--no-deps"]
    subprocess.run(
        [sys.executable, *install, "--no-index", "--no-build-isolation", "-e", folder], check=True
    )
    variables = newcomer | {"PATH": f"{newcomer['PATH']}{os.pathsep}{Path(sys.executable).parent}"}
    for command in ("python -m pytest -q -p no:cacheprovider", "python -m lit.main -v tests"):
        done = run(command, folder, variables)
        assert done.returncode == 0, done.stdout + done.stderr
    # From JAX to its own operation, in HLO text too.
    program = """
        ENTRY main {
          x = f32[2] parameter(0)
          ROOT y = f32[2] custom-call(x), custom_call_target="my.squash",
            api_version=API_VERSION_TYPED_FFI, backend_config={scale = 1.0 : f32}
        }"""
    (folder / "p.hlo").write_text(program)
    done = run("xla-run p.hlo --input 2xf32=[1,-3]", folder, variables)
    assert done.stdout == "f32[2] [ 0.5 , -0.75]\n", done.stderr
    (folder / "p.hlo").write_text(program.replace("1.0", "-1.0"))
    done = run("xla-run p.hlo --input 2xf32=[1,-3]", folder, variables)
    assert "my.squash: (C2) scale is -1" in done.stderr
    again = run("xla-new-package my_ops", tmp_path, newcomer)
    assert "there is a package 'my_ops' already" in again.stderr
    again = run("xla-new-package other_ops -o my_ops", tmp_path, newcomer)
    assert again.stderr.endswith("it is there already\n")
    assert run("xla-new-package My-ops", tmp_path, newcomer).returncode == 1
