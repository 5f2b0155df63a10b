"""The devices that we give to JAX, in processes that ask for them, and in one that does not."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lowerings.execution.compile_cache import CACHE_VARIABLE

ROOT = Path(__file__).parents[2]
PROGRAMS = [
    str(Path(__file__).with_name(f"{name}.py"))
    for name in (
        *("programs_on_devices", "programs_in_parts", "programs_that_offload"),
        "programs_interrupted",
        "traces_of_devices",
    )
]

pytestmark = [pytest.mark.jax, pytest.mark.scipy]

KNOWN = "import lowerings.pjrt\nlowerings.pjrt.initialize()\n"
"""Whether or not the package is installed with its entry points."""


def run(arguments: list[str], platforms: str | None = "xdsl,cpu", cache: Path | None = None) -> str:
    """What a process prints that must end well; `cache` is the folder of its user's caches."""
    environment = dict(os.environ, JAX_NUM_CPU_DEVICES="4", PYTHONPATH=str(ROOT))
    environment.pop("JAX_PLATFORMS", None)
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
        del environment[CACHE_VARIABLE]
    if platforms is not None:
        environment["JAX_PLATFORMS"] = platforms
    found = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def test_jax_finds_the_plugin():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (module,) = project["project"]["entry-points"]["jax_plugins"].values()
    assert module == "lowerings.pjrt"


def test_programs_on_devices(request: pytest.FixtureRequest):
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "default"]
    if request.config.getoption("--full"):
        options.append("--full")
    script = KNOWN + f"import pytest; raise SystemExit(pytest.main({[*options, *PROGRAMS]!r}))"
    assert "passed" in run(["-c", script])


def test_nothing_changes_for_who_does_not_ask(tmp_path: Path):
    script = KNOWN + (
        "import jax, sys\n"
        "assert 'CpuDevice' in repr(jax.devices()[0]), jax.devices()\n"
        "import jax.numpy as jnp\n"
        "assert jnp.ones(3).devices() == {jax.devices('cpu')[0]}\n"
        "with jax.profiler.trace(sys.argv[1]): jnp.ones(3).sum()\n"
        "assert 'xdsl' not in sys.modules\n"
        "print(jax.devices('xdsl')[0], (jax.device_put(1.0, jax.devices('xdsl')[0]) + 1).devices())"
    )
    found = run(["-c", script, str(tmp_path)], None).split()
    assert found == ["XdslDevice(id=0)", "{XdslDevice(id=0)}"]


@pytest.mark.usefixtures("interruptible")
def test_a_process_that_is_interrupted_while_it_compiles_ends():
    script = KNOWN + (
        "import jax, jax.numpy as jnp, os, signal\n"
        "from lowerings.driver.pass_manager import PassManager\n"
        "def long(x):\n"
        "    for n in range(1000): x = jnp.sin(x) + n\n"
        "    return x\n"
        "lowered = jax.jit(long).lower(1.0)\n"
        "own = PassManager.run\n"
        "def run(*given):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    own(*given)\n"
        "PassManager.run = run\n"
        "try: lowered.compile()\n"
        "except KeyboardInterrupt: print('interrupted')"
    )
    assert run(["-c", script]) == "interrupted\n"


MEGABYTES = 80


def test_large_constants_are_in_memory_a_few_times_only(tmp_path: Path):
    """
    Of what is there when a program is lowered: the most while it compiles, and what stays. Jaxlib
    has it 3 times before we have copied anything: serialized, and in two dialects.
    """
    script = KNOWN + (
        # What getrusage tells may be of the process that this one was started by.
        "import jax, numpy as np\n"
        "def kilobytes(name):\n"
        "    status = dict(line.split(':') for line in open('/proc/self/status'))\n"
        "    return int(status[name].split()[0])\n"
        "def program(size):\n"
        "    values = np.random.default_rng(0).standard_normal(size, dtype=np.float32)\n"
        "    return jax.jit(lambda x: (values * x).sum()).lower(np.float32(1))\n"
        "program(40000).compile()\n"
        f"lowered = program({MEGABYTES} * 250000)\n"
        "before = kilobytes('VmRSS')\n"
        "compiled = lowered.compile()\n"
        "print(kilobytes('VmHWM') - before, kilobytes('VmRSS') - before)"
    )
    most, stays = (float(n) / MEGABYTES / 1e3 for n in run(["-c", script], cache=tmp_path).split())
    assert most < 4.4
    assert stays < 2.4


@pytest.mark.parametrize("where", ["JAX's", "the user's"])
def test_compiled_programs_are_kept(where: str, tmp_path: Path):
    script = KNOWN + "import jax, jax.numpy as jnp, sys\n"
    if where == "JAX's":
        script += f"jax.config.update('jax_compilation_cache_dir', {str(tmp_path)!r})\n"
    script += "print(jax.jit(lambda x: jnp.sin(x) + 1)(jnp.zeros(2)))\nprint('xdsl' in sys.modules)"
    cache = tmp_path / "unused" if where == "JAX's" else tmp_path
    assert run(["-c", script], cache=cache).split() == ["[1.", "1.]", "True"]
    kept = {path.name for path in (tmp_path / "xla-dialect").iterdir()}
    assert len(kept) >= 2, "the program, and that of `zeros`"
    assert run(["-c", script], cache=cache).split() == ["[1.", "1.]", "False"]
    assert {path.name for path in (tmp_path / "xla-dialect").iterdir()} == kept
    assert not (tmp_path / "unused").exists()


def test_nothing_is_kept_if_jax_is_told_so(tmp_path: Path):
    script = KNOWN + (
        "import jax, jax.numpy as jnp\n"
        "jax.config.update('jax_enable_compilation_cache', False)\n"
        "print(jnp.zeros(1))"
    )
    assert run(["-c", script], cache=tmp_path) == "[0.]\n"
    assert not list(tmp_path.iterdir())


def test_a_process_loads_a_compiler_when_it_compiles_and_ends_well(tmp_path: Path):
    """With arrays that are alive, within a trace."""
    script = KNOWN + (
        "import os; os.dup2(1, 2)\n"
        "import jax, jax.numpy as jnp, numpy as np, sys\n"
        "def is_loaded(): return 'xdsl' in sys.modules\n"
        "array = jax.device_put(np.arange(3.0, dtype=np.float32))\n"
        "print(is_loaded(), np.asarray(array), array + 1, is_loaded())\n"
        "jax.profiler.start_trace(sys.argv[1])\n"
        "kept = [jnp.arange(3.0), jax.device_put(np.ones((64, 64)))]\n"
        "print(jax.jit(lambda x: x + 2)(kept[0]))"
    )
    lines = run(["-c", script, str(tmp_path)]).splitlines()
    assert lines == ["False [0. 1. 2.] [1. 2. 3.] True", "[2. 3. 4.]"]


def test_a_child_process_calls_what_its_parent_has_compiled():
    script = KNOWN + (
        "import os, jax, numpy as np\n"
        "f = jax.jit(lambda x: jax.numpy.sin(x).sum(0))\n"
        "x = np.ones((2048, 1024), np.float32)\n"
        "before = np.asarray(f(x))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if np.array_equal(f(x), before) else 1)\n"
        "print(os.waitpid(child, 0)[1])"
    )
    assert run(["-W", "ignore", "-c", script]) == "0\n"
