"""Programs on the ranks of MPI: what four threads compute, four ranks do too, bit by bit."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from peers import mpiexec
from rank_checks import CHECKS, EXECUTORS, IN_PARTS, RANKS

import lowerings
from lowerings.execution import compile_cache
from xla_dialect.diagnostics import XlaError

pytestmark = pytest.mark.mpi

SECONDS = 600
"""How long anything may take on a busy machine."""
SUPPORT = Path(__file__).parents[1] / "support"
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
SUM = (
    f"HloModule m, replica_count=3\n{ADD}"
    "ENTRY main { x = f32[2] parameter(0)\n ROOT y = f32[2] all-reduce(x), to_apply=add }"
)
SUM_OF_TWO = SUM.replace("count=3", "count=2")
STUCK = (
    f"HloModule m, replica_count=3\n{ADD}"
    "yes { p = f32[2] parameter(0)\n"
    " ROOT y = f32[2] all-reduce(p), replica_groups={{0,1,2}}, to_apply=add }\n"
    "no { ROOT p = f32[2] parameter(0) }\n"
    "ENTRY main { x = f32[2] parameter(0)\n id = u32[] replica-id()\n one = u32[] constant(1)\n"
    " p = pred[] compare(id, one), direction=NE\n"
    " ROOT q = f32[2] conditional(p, x, x), true_computation=yes, false_computation=no }"
)
ENDLESS = (
    f"HloModule m, replica_count=3\n{ADD}"
    "body { ROOT p = f32[2] parameter(0) }\n"
    "condition { p = f32[2] parameter(0)\n ROOT t = pred[] constant(true) }\n"
    "loop { p = f32[2] parameter(0)\n"
    " ROOT w = f32[2] while(p), condition=condition, body=body }\n"
    "through { ROOT p = f32[2] parameter(0) }\n"
    "ENTRY main { x = f32[2] parameter(0)\n id = u32[] replica-id()\n two = u32[] constant(2)\n"
    " p = pred[] compare(id, two), direction=EQ\n"
    " y = f32[2] conditional(p, x, x), true_computation=loop, false_computation=through\n"
    " ROOT q = f32[2] all-reduce(y), to_apply=add }"
)


def on_ranks(count: int, *command: str) -> subprocess.CompletedProcess[str]:
    """What a command says that so many ranks run."""
    program = mpiexec()
    assert program is not None
    return subprocess.run(
        [program, "-iface", "lo", "-n", str(count), sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def xla_run(count: int, text: str, tmp_path: Path, *options: str) -> tuple[bool, str, list[str]]:
    """
    Whether it succeeds, what is printed, and our lines of what is printed as an error.

    Where a rank ends all, mpiexec says 1, or how it has killed another one, and tells of that.
    """
    path = tmp_path / "program.hlo"
    path.write_text(text)
    command = ("-m", "tools.xla_run", str(path), "--communicator", "mpi", *options)
    found = on_ranks(count, *command)
    lines = [line for line in found.stderr.splitlines() if "error: " in line]
    output = found.stdout.split("\n====", 1)[0] if found.returncode else found.stdout
    return found.returncode == 0, output.strip(), lines


def test_as_threads():
    """Every program on every executor, from one start of all ranks: what rank 0 has found."""
    found = on_ranks(RANKS, str(SUPPORT / "rank_checks.py"))
    assert found.returncode == 0, found.stderr
    outcomes = dict(line.split(": ", 1) for line in found.stdout.splitlines())
    assert outcomes == {
        f"{executor} {name}": "ok"
        for executor, names in EXECUTORS.items()
        for name in (*names, IN_PARTS)
    }


def test_every_collective_is_checked():
    text = "".join(check.text for check in CHECKS.values())
    collectives = (
        "all-gather(", "all-gather-start(", "all-reduce(", "all-reduce-start(", "all-to-all(",
        "async-start(", "collective-broadcast(", "collective-permute(", "ragged-all-to-all(",
        "reduce-scatter(", "recv(", "send(",
    )  # fmt: skip
    assert [name for name in collectives if name not in text] == []


def test_rank_0_reports(tmp_path: Path):
    inputs = [f"--input={rank}:2xf32={rank + 1}" for rank in range(2)]
    ok, output, errors = xla_run(2, SUM_OF_TWO, tmp_path, *inputs, "--output-dir", str(tmp_path))
    assert (ok, output, errors) == (True, "", [])
    for rank in range(2):
        np.testing.assert_array_equal(np.load(tmp_path / f"main.replica{rank}.0.npy"), [3, 3])


def test_ranks_that_wait_forever_are_named_as_threads_are(tmp_path: Path):
    path = tmp_path / "program.hlo"
    ok, output, errors = xla_run(3, STUCK, tmp_path, "--input=2xf32=1")
    program = lowerings.compile(path)
    with pytest.raises(XlaError) as caught:
        program.run_processes([[np.ones(2, np.float32)]] * 3)
    expected = f"xla-run: error: {caught.value}"
    assert "waits forever: replica 0 waits for replica 1 (which has ended) in" in expected
    assert (ok, output, errors) == (False, "", [expected])


def test_a_rank_that_fails_ends_all(tmp_path: Path):
    """The others wait for it in a collective."""
    text = SUM.replace("ENTRY main { x = f32[2] parameter(0)", CHECKED)
    ok, output, errors = xla_run(3, text, tmp_path, "--backend=reference")
    assert (ok, output) == (False, "")
    (line,) = errors
    assert line.endswith("infeed: waits forever: the infeed has no item left"), line
    assert "error: replica " in line


CHECKED = (
    "ENTRY main { t = token[] after-all()\n i = (f32[2], token[]) infeed(t)\n"
    " x = f32[2] get-tuple-element(i), index=0"
)


def after(begin: str, text: str, folder: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    """What three ranks of xla-run that first do something else make of a program: they fail."""
    program, script = folder / "program.hlo", folder / "script.py"
    program.write_text(text)
    script.write_text(
        "import os, signal, sys, time\n"
        "from tools import xla_run\n"
        f"{begin}"
        "sys.exit(xla_run.main())\n"
    )
    options = ("--communicator=mpi", "--input=2xf32=1", f"--timeout={timeout}")
    found = on_ranks(3, str(script), str(program), *options)
    assert found.returncode != 0
    return found


def test_what_takes_too_long_ends(tmp_path: Path):
    """The limit is for the run alone: ranks start, and compile, as slowly as they do."""
    begin = f"join = xla_run.join_ranks\nxla_run.join_ranks = lambda limit: join({SECONDS})\n"
    found = after(begin, ENDLESS, tmp_path, 1)
    (line,) = (each for each in found.stderr.splitlines() if "error: " in each)
    assert "did not end within 1 s" in line


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (SUM, [], "runs on 3 replicas and 1 partitions, the communicator has 2"),
        (SUM_OF_TWO, ["--expected-output=2xf32=4"], "replica 0: result 0"),
    ],
    ids=["before the run", "behind it"],
)
def test_what_all_find_wrong_is_said_once(
    tmp_path: Path, text: str, options: Sequence[str], message: str
):
    ok, output, errors = xla_run(2, text, tmp_path, "--input=2xf32=1", *options)
    assert (ok, output) == (False, "")
    assert len(errors) == 1
    assert message in errors[0]


def test_ranks_compile_once(tmp_path: Path):
    """What rank 0 finds in the cache, it hands on; nobody else looks."""
    cache_folder = tmp_path / "cache"
    options = ("--input=2xf32=1", f"--compile-cache={cache_folder}")
    script = tmp_path / "count.py"
    script.write_text(
        "import sys\n"
        "from lowerings import executors\n"
        "from tools import xla_run\n"
        "real = executors.compile_loops_module\n"
        "def counting(*arguments, **options):\n"
        "    print('compiled', flush=True)\n"
        "    return real(*arguments, **options)\n"
        "executors.compile_loops_module = counting\n"
        "sys.exit(xla_run.main())\n"
    )
    path = tmp_path / "program.hlo"
    path.write_text(SUM_OF_TWO)
    command = (str(script), str(path), "--communicator=mpi", *options)
    first, second = (on_ranks(2, *command).stdout for _ in range(2))
    assert first.count("compiled") == 1
    assert second.count("compiled") == 0
    assert first.replace("compiled\n", "") == second
    assert second.splitlines() == [f"replica {rank}: f32[2] [2., 2.]" for rank in range(2)]


def test_no_communicator():
    with pytest.raises(XlaError, match="communicator: 3 is no communicator of mpi4py"):
        lowerings.compile(SUM, communicator=3)


def test_code_for_other_processes_calls_what_it_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Programs of several processes are kept, with what they call outside of them."""
    monkeypatch.setattr(compile_cache, "_LOADED", 1 << 63)
    compile_cache.toolkit_fingerprint.cache_clear()
    arguments = [[np.full(2, n, np.float32)] for n in range(3)]
    for _ in range(2):
        program = lowerings.compile(SUM, compile_cache=tmp_path / "cache")
        for (result,) in program.run_processes(arguments):
            np.testing.assert_array_equal(result, [3, 3])
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_all_ranks_have_one_program_and_its_options(tmp_path: Path):
    """Which rank 0 compiles for them; what is no part of either may differ."""
    schedules = tmp_path / "empty.schedules"
    schedules.write_text("schedules {\n}\n")
    cases: list[tuple[list[str], list[dict[str, object]], str]] = [
        (
            [SUM, SUM.replace("HloModule m", "// Again.\nHloModule m")],
            [{}, {"num_threads": 1}],
            "ok",
        ),
        ([SUM, SUM.replace(", to_apply", ", channel_id=7, to_apply")], [{}, {}], "program"),
        ([SUM, SUM.replace("c = f32[] add", "c = f32[] maximum")], [{}, {}], "program"),
        *(
            ([SUM, SUM], [{}, {name: value}], name)
            for name, value in {
                "backend": "interpreter",
                "check_bounds": True,
                "donate": [0],
                "flush_subnormals": True,
                "pipeline": "xla-simplify",
                "schedules": str(schedules),
            }.items()
        ),
    ]
    script = tmp_path / "ranks.py"
    script.write_text(
        "import lowerings\n"
        "from mpi4py import MPI\n"
        "from xla_dialect.diagnostics import XlaError\n"
        "ranks = MPI.COMM_WORLD\n"
        f"for texts, options, _ in {cases!r}:\n"
        "    texts = [each.replace('count=3', 'count=2') for each in texts]\n"
        "    rank = ranks.Get_rank()\n"
        "    try:\n"
        "        lowerings.compile(texts[rank], communicator=ranks, **options[rank])\n"
        "        found = 'ok'\n"
        "    except XlaError as error:\n"
        "        found = str(error)\n"
        "    for line in ranks.gather(found) or []:\n"
        "        print(line, flush=True)\n"
    )
    found = on_ranks(2, str(script))
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    for number, (_, _, expected) in enumerate(cases):
        first, second = lines[2 * number : 2 * number + 2]
        assert first == second
        if expected == "ok":
            assert first == "ok"
        elif expected == "program":
            assert first == "rank 1 has another program than rank 0"
        else:
            assert first == f"rank 1 has another value of the option {expected} than rank 0"


@pytest.mark.parametrize(
    "stops", ["in an exchange", pytest.param("at the start", marks=pytest.mark.full)]
)
def test_a_silent_rank_is_named(stops: str, tmp_path: Path):
    """
    As one is whose network is cut: it does nothing any more, and says so to nobody.

    In an exchange it may be silent for less long than before: then all have started, and compiled.
    """
    begin = (
        "from mpi4py import MPI\n"
        "from lowerings.execution.mpi_ranks import RankProcess\n"
        "def stop(*_, **__):\n"
        "    os.kill(os.getpid(), signal.SIGSTOP)\n"
        "is_silent = MPI.COMM_WORLD.Get_rank() == 2\n"
        f"if is_silent and {stops == 'at the start'}:\n"
        "    stop()\n"
        "exchange = RankProcess.exchange\n"
        "def limited(process, *arguments, **options):\n"
        "    process.ranks.silence = 3\n"
        "    return (stop if is_silent else exchange)(process, *arguments, **options)\n"
        "RankProcess.exchange = limited\n"
    )
    found = after(begin, SUM, tmp_path, 3 if stops == "at the start" else SECONDS)
    (line,) = (each for each in found.stderr.splitlines() if "error: " in each)
    assert "rank 2: " in line, line
    assert "within 3 s" in line
    assert "rank 1: " not in line


def test_a_rank_that_starts_late_is_not_waited_for(tmp_path: Path):
    """MPI itself waits for it: every other rank says that it is there."""
    begin = f"if os.environ['PMI_RANK'] == '2':\n    time.sleep({SECONDS})\n"
    found = after(begin, SUM, tmp_path, 3)
    # Both write at once, and their lines may run together.
    lines = re.sub("(?<=.)(?=xla-run: )", "\n", found.stderr).splitlines()
    said = {line for line in lines if "error: " in line}
    messages = [
        f"xla-run: error: rank {rank} has started, but not all others within 3 s" for rank in (0, 1)
    ]
    assert said
    assert said <= {*messages}


def test_how_long_a_rank_may_say_nothing(tmp_path: Path):
    script = tmp_path / "limits.py"
    script.write_text(
        "import math\n"
        "from mpi4py import MPI\n"
        "from lowerings.execution.rank_runs import ranks_of\n"
        "limits = [ranks_of(MPI.COMM_WORLD, each).silence for each in (None, 5, math.inf, None)]\n"
        "if MPI.COMM_WORLD.Get_rank() == 0:\n"
        "    print(limits)\n"
    )
    assert on_ranks(2, str(script)).stdout == "[600.0, 5, inf, 600.0]\n"
