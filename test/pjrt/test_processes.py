"""The device in several processes of `jax.distributed`, each of which runs the same tests."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from peers import mpiexec

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).with_name("programs_of_processes.py")
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "default"]

pytestmark = [pytest.mark.jax, pytest.mark.flax]

KNOWN = "import lowerings.pjrt\nlowerings.pjrt.initialize()\n"
"""Whether or not the package is installed with its entry points."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


def start(script: str, count: int, devices: int = 1) -> list[subprocess.Popen[str]]:
    """Starts processes that run a script; their names are in the environment."""
    common = {
        "PROCESS_COUNT": str(count),
        "COORDINATOR": f"127.0.0.1:{free_port()}",
        "JAX_PLATFORMS": "xdsl,cpu",
        "JAX_NUM_CPU_DEVICES": str(devices),
        "PYTHONPATH": str(ROOT),
    }
    return [
        subprocess.Popen(
            [sys.executable, "-c", KNOWN + script],
            cwd=ROOT,
            env={**os.environ, **common, "PROCESS_NUMBER": str(number)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(count)
    ]


def outputs(processes: Sequence[subprocess.Popen[str]], seconds: float = 900) -> list[str]:
    """What processes print, which have to end in time."""
    end = time.monotonic() + seconds
    try:
        return [each.communicate(timeout=max(end - time.monotonic(), 1))[0] for each in processes]
    finally:
        for each in processes:
            each.kill()


def run(script: str, count: int, devices: int = 1) -> None:
    """Runs a script in processes that have to end well."""
    processes = start(script, count, devices)
    for process, output in zip(processes, outputs(processes), strict=True):
        assert process.returncode == 0, output


@pytest.mark.parametrize(
    ("count", "devices"),
    [
        (2, 1),
        pytest.param(2, 2, marks=pytest.mark.full),
        pytest.param(4, 1, marks=pytest.mark.full),
        pytest.param(4, 2, marks=pytest.mark.full),
    ],
)
def test_programs(count: int, devices: int):
    run(
        f"import pytest; raise SystemExit(pytest.main({[*OPTIONS, str(PROGRAMS)]!r}))",
        count,
        devices,
    )


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("count", "devices", "programs"),
    [
        (2, 1, "collectives or whole_arrays"),
        pytest.param(2, 2, "test", marks=pytest.mark.full),
        pytest.param(4, 1, "test", marks=pytest.mark.full),
        pytest.param(4, 2, "test", marks=pytest.mark.full),
    ],
)
def test_programs_over_mpi(count: int, devices: int, programs: str):
    """JAX finds the processes by mpi4py, and the device sends by MPI."""
    command = mpiexec()
    assert command is not None
    script = KNOWN + (
        f"import pytest; code = pytest.main({[*OPTIONS, '-k', programs, str(PROGRAMS)]!r})\n"
        "from lowerings.pjrt.client import CLIENTS\n"
        "links = [each for each in CLIENTS.values() if each.links][0].links.by_process\n"
        "assert all(link.is_over_mpi for link in links.values())\n"
        "raise SystemExit(code)"
    )
    given = {
        "JAX_PLATFORMS": "xdsl,cpu",
        "JAX_NUM_CPU_DEVICES": str(devices),
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [command, "-iface", "lo", "-n", str(count), sys.executable, "-c", script],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr


CHECKPOINT = """
import os, sys
import jax
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

count, number = int(os.environ["PROCESS_COUNT"]), int(os.environ["PROCESS_NUMBER"])
if count > 1:
    jax.distributed.initialize(os.environ["COORDINATOR"], count, number)
mesh = Mesh(np.array(jax.devices()), ("x",))
wholes = {"rows": np.arange(64.0).reshape(16, 4), "all": np.arange(3)}
places = {"rows": NamedSharding(mesh, PartitionSpec("x")), "all": NamedSharding(mesh, PartitionSpec())}
arrays = {
    name: jax.make_array_from_callback(whole.shape, places[name], lambda place, whole=whole: whole[place])
    for name, whole in wholes.items()
}
checkpoints = ocp.StandardCheckpointer()
if PATH_EXISTS:
    arrays = checkpoints.restore(PATH, jax.tree.map(jax.numpy.zeros_like, arrays))
    for name, array in arrays.items():
        assert array.sharding == places[name], array.sharding
        for shard in array.addressable_shards:
            np.testing.assert_array_equal(shard.data, wholes[name][shard.index])
else:
    checkpoints.save(PATH, arrays)
    checkpoints.wait_until_finished()
checkpoints.close()
"""


@pytest.mark.full
@pytest.mark.parametrize("counts", [(2, 1), (1, 4), (4, 2)], ids=str)
def test_checkpoints_of_other_numbers_of_processes(counts: tuple[int, int], tmp_path: Path):
    pytest.importorskip("orbax.checkpoint")
    path = repr(str(tmp_path / "kept"))
    for is_there, count in enumerate(counts):
        script = CHECKPOINT.replace("PATH_EXISTS", str(bool(is_there))).replace("PATH", path)
        run(script, count, 2)


DYING = """
import os, sys
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

count, number = int(os.environ["PROCESS_COUNT"]), int(os.environ["PROCESS_NUMBER"])
jax.distributed.initialize(os.environ["COORDINATOR"], count, number)
mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(np.ones(4), NamedSharding(mesh, PartitionSpec("x")))
total = jax.jit(jnp.sum)
assert float(total(x)) == 4
print("begins", flush=True)
if number == 1:
    END
while True:
    WAIT
"""


TRAINING = """
import os
from pathlib import Path
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

count, number = int(os.environ["PROCESS_COUNT"]), int(os.environ["PROCESS_NUMBER"])
jax.distributed.initialize(os.environ["COORDINATOR"], count, number)
mesh = Mesh(np.array(jax.devices()), ("x",))
own = np.ones((8, 32), np.float32)
x = jax.make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec("x")), own)
weights = jax.device_put(np.zeros((32, 32), np.float32), NamedSharding(mesh, PartitionSpec()))

def step(weights, x):
    gradient = jax.grad(lambda w: jnp.mean((x @ w - 1) ** 2))(weights)
    return weights - 0.1 * gradient

def resident_kilobytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4

run = jax.jit(step, donate_argnums=0)
for turn in range(10_000):
    weights = run(weights, x)
    if turn == 1000:
        weights.block_until_ready()
        before, alive = resident_kilobytes(), len(jax.live_arrays())
found = np.asarray(weights)
# 32 bytes of a step would be 281.
assert resident_kilobytes() < before + 256, (before, resident_kilobytes())
assert len(jax.live_arrays()) == alive
np.testing.assert_allclose(found.sum(0), 1, 1e-4)
"""


@pytest.mark.full
def test_many_steps_do_not_grow():
    run(TRAINING, 2)


INTERRUPTED = """
import os, signal, time
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

count, number = int(os.environ["PROCESS_COUNT"]), int(os.environ["PROCESS_NUMBER"])
jax.distributed.initialize(os.environ["COORDINATOR"], count, number)
x = jax.device_put(np.ones(4), NamedSharding(Mesh(np.array(jax.devices()), ("x",)), PartitionSpec("x")))
total = jax.jit(jnp.sum)
assert float(total(x)) == 4
first, _ = multihost_utils.process_allgather(np.array([os.getpid()])).ravel().tolist()
if number == 1:
    time.sleep(1)
    os.kill(first, signal.SIGINT)
    time.sleep(1)
try:
    # What process 0 has sent before its end still comes.
    for _ in range(2):
        total(x).block_until_ready()
except KeyboardInterrupt:
    print("interrupted")
except (ValueError, jax.errors.JaxRuntimeError) as error:
    print(error)
assert float(jax.jit(lambda: jnp.ones(3).sum())()) == 3
"""


@pytest.mark.full
def test_ctrl_c_ends_waiting_for_others():
    processes = start(INTERRUPTED, 2)
    first, second = outputs(processes, 100)
    assert "interrupted" in first
    assert f"process 0 (127.0.0.1, pid {processes[0].pid}) has " in second
    assert [each.returncode for each in processes] == [0, 0], first + second


@pytest.mark.parametrize(
    ("end", "said", "wait"),
    [
        ("os.kill(os.getpid(), 9)", "has died", "assert float(total(x)) == 4"),
        pytest.param(
            "raise ValueError('no more')",
            "has failed: ValueError: no more",
            "import time; time.sleep(1)",
            marks=pytest.mark.full,
        ),
    ],
    ids=["killed", "failed"],
)
def test_a_process_that_ends_the_others(end: str, said: str, wait: str):
    processes = start(DYING.replace("END", end).replace("WAIT", wait), 2)
    name = f"process 1 (127.0.0.1, pid {processes[1].pid})"
    processes[1].wait(timeout=100)
    died = time.monotonic()
    output, _ = outputs(processes, 30)
    assert processes[0].returncode not in (0, None)
    assert time.monotonic() - died < 10
    assert f"{name} {said}" in output
