"""
What the package does, once it is installed, to processes that are about something else: nothing.

Each runs in a process of its own, as users' programs do, with our entry points as JAX finds them.
"""

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.jax]

KNOWN = "import lowerings.pjrt\nlowerings.pjrt.initialize()\n"
"""Whether or not the package is installed with its entry points."""


def run(
    script: str, platforms: str | None = None, arguments: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, (ROOT, ROOT / "test" / "support")))
    variables = {**os.environ, "PYTHONPATH": path, "JAX_NUM_CPU_DEVICES": "1", **environment}
    variables.pop("JAX_PLATFORMS", None)
    if platforms is not None:
        variables["JAX_PLATFORMS"] = platforms
    command = [sys.executable, "-c", KNOWN + script, *arguments]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)


def output(script: str, platforms: str | None = None, **environment: str) -> str:
    """What a process prints that must end well."""
    found = run(script, platforms, (), **environment)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


TWO_PROCESSES = """
import sys
import jax
import numpy as np
from jax.experimental import multihost_utils

number = int(sys.argv[1])
jax.distributed.initialize(f"localhost:{sys.argv[2]}", 2, number)
print(jax.process_count(), jax.process_index(), len(jax.devices()), len(jax.local_devices()))
try:
    jax.device_put(1.0, jax.devices("xdsl")[0])
except RuntimeError as error:
    print(error)
print(multihost_utils.process_allgather(np.array([number + 5])).ravel().tolist())
"""
ASK = "in a run of several processes JAX_PLATFORMS has to name 'xdsl'"


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return str(found.getsockname()[1])


def two_processes(platforms: str | None) -> list[subprocess.CompletedProcess[str]]:
    port = free_port()
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(lambda n: run(TWO_PROCESSES, platforms, (str(n), port)), range(2)))


def test_two_processes_that_do_not_ask():
    for number, found in enumerate(two_processes(None)):
        assert found.returncode == 0, found.stdout + found.stderr
        lines = [line for line in found.stdout.splitlines() if not line.startswith("[Gloo]")]
        counts, told, gathered = lines
        assert counts == f"2 {number} 2 1"
        assert ASK in told
        assert gathered == "[5, 6]"
        assert "xdsl" not in found.stderr


def test_one_process_of_one_may_ask():
    script = (
        "import jax\n"
        f"jax.distributed.initialize('localhost:{free_port()}', 1, 0)\n"
        "print(jax.devices(), jax.process_count(), jax.numpy.ones(2) + 1)"
    )
    assert output(script, "xdsl").split() == ["[XdslDevice(id=0)]", "1", "[2.", "2.]"]


def test_options_for_other_plugins_end_no_program():
    given = {"JAX_PJRT_CLIENT_CREATE_OPTIONS": "their_option:1"}
    script = "import jax\nprint(jax.numpy.ones(2) + 1)"
    assert output(script, **given).split() == ["[2.", "2.]"]
    found = run(script, "xdsl", (), **given)
    assert found.returncode
    assert "there is no option 'their_option'" in found.stderr


FIRST = """
import numpy as np
import jax
import jax._src.compiler
import jax.numpy as jnp
import llvmlite.binding
import xdsl.irdl
import xdsl.universe
from process_state import changes, process_state

jax.devices("cpu")
jax.jit(lambda x: jax.pure_callback(np.sin, x, x) + 1)(jnp.ones(3))
"""
BEFORE = "\nbefore = process_state()\n"
AFTER = "\nprint(*changes(before, process_state()), sep='\\n')\n"

HANDED_OVER = {"jax._src.compiler.backend_compile_and_load is another"}
"""The functions of Python that programs call are handed over there, see `registration`."""

DOORS = {
    "import": "import lowerings, lowerings.compilation, lowerings.explaining, lowerings.universe",
    "tools of xDSL": (
        "found = xdsl.universe.Universe.get_multiverse()\n"
        "import lowerings.universe\n"
        "for each in lowerings.universe.UNIVERSE.all_dialects.values(): each()\n"
        "for each in lowerings.universe.UNIVERSE.all_passes.values(): each()"
    ),
    "compile": (
        "import lowerings\n"
        "text = 'HloModule m\\nENTRY main {\\n  x = f32[512,512] parameter(0)\\n"
        "  ROOT y = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\\n}'\n"
        "lowerings.compile(text, num_threads=1)(np.ones((512, 512), np.float32))"
    ),
    "jit": "import lowerings.jax\nlowerings.jax.jit(lambda x: jnp.sort(x) @ x)(np.ones(30))",
    "device": (
        "there = jax.device_put(np.ones((4, 4), np.float32), jax.devices('xdsl')[0])\n"
        "f = lambda x: jax.pure_callback(np.sin, x, x) @ jnp.linalg.svd(x)[0]\n"
        "compiled = jax.jit(f).lower(there).compile()\n"
        "compiled(there).block_until_ready(), compiled.as_text(), compiled.cost_analysis()"
    ),
    "devices": (
        "mesh = jax.sharding.Mesh(np.array(jax.devices('xdsl')), ('x',))\n"
        "spec = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('x'))\n"
        "there = jax.device_put(np.ones((8, 8), np.float32), spec)\n"
        "jax.jit(lambda x: jnp.linalg.inv(x + jnp.eye(8)) @ x.sum(0))(there).block_until_ready()"
    ),
}  # fmt: skip


def test_a_process_stays_as_it_was():
    doors = (f"{BEFORE}{door}{AFTER}print('behind {name}')" for name, door in DOORS.items())
    found = output(FIRST + "\n".join(doors), JAX_NUM_CPU_DEVICES="2").splitlines()
    lines = [line for line in found if line not in HANDED_OVER and line]
    assert lines == [f"behind {name}" for name in DOORS]


def test_jax_on_its_own_cpu_stays_as_it_was():
    """The plugin is found, nobody asks for it."""
    script = (
        FIRST.partition("jax.devices")[0]
        + "import sys\nmodules = {*sys.modules}"
        + BEFORE
        + "jax.jit(lambda x: jax.pure_callback(np.sin, x, x) + 1)(jnp.ones(3))"
        + AFTER
        + "print({'xdsl', 'scipy', 'lowerings.compilation'} & ({*sys.modules} - modules))"
    )
    *lines, loaded = output(script).splitlines()
    # JAX itself opens what it wants.
    assert {line for line in lines if not line.startswith("open files")} <= HANDED_OVER | {""}
    assert loaded == "set()"


def test_a_child_does_not_wait_for_calls_of_its_parent():
    script = """
import os, sys, threading, time
import jax
import numpy as np
from lowerings.pjrt import plugin

plugin._PATIENCE = 60
begun, end = threading.Event(), threading.Event()

def wait(x):
    begun.set()
    end.wait()
    return np.asarray(x)

call = jax.jit(lambda x: jax.pure_callback(wait, x, x))
caller = threading.Thread(target=call, args=(np.ones(3, np.float32),))
caller.start()
begun.wait()
if not (child := os.fork()):
    sys.exit(7)
start = time.monotonic()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), time.monotonic() - start < 40)
end.set()
caller.join()
"""
    assert output(script, "xdsl,cpu").split() == ["7", "True"]
