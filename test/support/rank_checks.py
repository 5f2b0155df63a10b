"""
Programs that four ranks of MPI run as four threads do: `mpiexec -n 4 python rank_checks.py`.

Rank 0 writes a line `NAME: ok`, or what differs, for each program and executor.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

ROOT = Path(__file__).parents[2]
RANKS = 4
COMPUTATIONS = """
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
minus {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] subtract(a, b)
}
add_bf16 {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT c = bf16[] add(a, b)
}
reduced {
  x = f32[6] parameter(0)
  ROOT y = f32[6] all-reduce(x), channel_id=7, to_apply=add
}
body {
  s = (s32[], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[6] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[6] all-reduce(x), replica_groups={{0,3},{1,2}}, to_apply=minus
  z = f32[6] all-reduce(y), replica_groups={{0,1},{2,3}}, to_apply=add
  ROOT t = (s32[], f32[6]) tuple(j, z)
}
condition {
  s = (s32[], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT p = pred[] compare(i, n), direction=LT
}
sends {
  x = f32[6] parameter(0)
  t = token[] after-all()
  s = (f32[6], u32[], token[]) send(x, t), channel_id=3
  u = token[] send-done(s), channel_id=3
  ROOT y = f32[6] add-dependency(x, u)
}
receives {
  x = f32[6] parameter(0)
  t = token[] after-all()
  r = (f32[6], u32[], token[]) recv(t), channel_id=3
  d = (f32[6], token[]) recv-done(r), channel_id=3
  ROOT y = f32[6] get-tuple-element(d), index=0
}
neither {
  ROOT x = f32[6] parameter(0)
}
"""
PAIRS = "frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2},{2,3},{3,0}}}"
WHO = "  id = u32[] replica-id()\n  n = s32[] convert(id)\n"


@dataclass(frozen=True)
class Check:
    """A program: the lines of its entry after its parameters, and the shapes of those."""

    lines: str
    shapes: tuple[str, ...] = ("f32[6]",)
    counts: tuple[int, int] = (RANKS, 1)
    arguments: Callable[[int], list[np.ndarray]] | None = None
    calls: int = 1

    @property
    def text(self) -> str:
        parameters = "".join(
            f"  x{n} = {shape} parameter({n})\n" for n, shape in enumerate(self.shapes)
        )
        return f"HloModule m\n{COMPUTATIONS}\nENTRY main {{\n{parameters}{self.lines}\n}}\n"

    def arrays(self, process: int) -> list[np.ndarray]:
        if self.arguments is not None:
            return self.arguments(process)
        generator = np.random.default_rng(process)
        return [_random(generator, shape) for shape in self.shapes]


DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "s8": np.int8}


def _random(generator: np.random.Generator, shape: str) -> np.ndarray:
    dtype, sizes = shape.rstrip("]").split("[")
    extents = [int(size) for size in sizes.split(",") if size]
    return (generator.standard_normal(extents) * 9).astype(DTYPES[dtype])


def ragged(process: int) -> list[np.ndarray]:
    """Process p sends (p + q) % 3 rows to process q."""
    counts = np.array([[(p + q) % 3 for q in range(RANKS)] for p in range(RANKS)], np.int32)
    before = np.vstack([np.zeros(RANKS, np.int32), np.cumsum(counts, 0)[:-1]]).astype(np.int32)
    inputs = np.concatenate([[0], np.cumsum(counts[process])[:-1]]).astype(np.int32)
    rows = np.arange(8, dtype=np.float32) + 10 * process
    plan = (inputs, counts[process], before[process], counts[:, process].copy())
    return [rows, np.full(8, -1, np.float32), *plan]


CHECKS = {
    "all-gather": Check("  ROOT r = f32[6,4] all-gather(x0), dimensions={1}", ("f32[6,1]",)),
    "all-gather of groups": Check(
        "  ROOT r = f32[12] all-gather(x0), replica_groups={{2,0},{3,1}}, dimensions={0}"
    ),
    "all-gather of nothing": Check("  ROOT r = f32[0] all-gather(x0), dimensions={0}", ("f32[0]",)),
    "all-reduce": Check(
        "  ROOT r = f32[6] all-reduce(x0), replica_groups={{2,0,1,3}}, to_apply=minus"
    ),
    "all-reduce of uneven groups": Check(
        "  ROOT r = f32[6] all-reduce(x0), replica_groups={{1},{3,0,2}}, to_apply=minus"
    ),
    "all-reduce in pieces": Check(
        "  r = (f32[173,301], f32[]) all-reduce(x0, x1), replica_groups={{2,0,1,3}},"
        " to_apply=minus\n  s = f32[173,301] get-tuple-element(r), index=0\n"
        "  t = f32[] get-tuple-element(r), index=1\n"
        "  ROOT q = (f32[173,301], f32[]) tuple(s, t)",
        ("f32[173,301]", "f32[]"),
    ),
    "all-reduce in pieces of uneven groups": Check(
        "  ROOT r = bf16[70001] all-reduce(x0), replica_groups={{0},{3,1,2}}, to_apply=add_bf16",
        ("bf16[70001]",),
    ),
    "all-reduce in pieces, many calls": Check(
        "  ROOT r = f32[40000] all-reduce(x0), to_apply=add", ("f32[40000]",), calls=20
    ),
    "all-reduce of devices": Check(
        "  ROOT r = f32[6] all-reduce(x0), replica_groups={{0,3},{1,2}}, channel_id=1,"
        " use_global_device_ids=true, to_apply=minus",
        counts=(2, 2),
    ),
    "all-reduce of all partitions": Check(
        "  ROOT r = f32[6] all-reduce(x0), replica_groups={{1,0}}, channel_id=1, to_apply=minus",
        counts=(2, 2),
    ),
    "reduce-scatter": Check(
        "  ROOT r = f32[3,2] reduce-scatter(x0), replica_groups={{2,0,1,3}}, dimensions={1},"
        " to_apply=minus",
        ("f32[3,8]",),
    ),
    "large reduce-scatter": Check(
        "  ROOT r = f32[300,200] reduce-scatter(x0), dimensions={1}, to_apply=add",
        ("f32[300,800]",),
    ),
    "all-to-all": Check("  ROOT r = s8[4,8] all-to-all(x0), dimensions={1}", ("s8[4,8]",)),
    "all-to-all one by one": Check(
        "  r = (f32[6], f32[6]) all-to-all(x0, x1), replica_groups={{3,0},{1,2}}\n"
        "  s = f32[6] get-tuple-element(r), index=0\n  t = f32[6] get-tuple-element(r), index=1\n"
        "  ROOT q = f32[6] subtract(s, t)",
        ("f32[6]", "f32[6]"),
    ),
    "ragged all-to-all": Check(
        "  ROOT r = f32[8] ragged-all-to-all(x0, x1, x2, x3, x4, x5), replica_groups={{0,1,2,3}}",
        ("f32[8]", "f32[8]", "s32[4]", "s32[4]", "s32[4]", "s32[4]"),
        arguments=ragged,
    ),
    "collective-permute": Check(
        "  ROOT r = f32[6] collective-permute(x0), source_target_pairs={{0,1},{1,2},{3,3}}"
    ),
    "collective-broadcast": Check(
        "  ROOT r = f32[6] collective-broadcast(x0), replica_groups={{2,0},{1,3}}"
    ),
    "under way at once": Check(
        "  a = f32[40000] all-reduce-start(x0), to_apply=minus\n"
        "  b = f32[40000] all-reduce-start(x1), to_apply=add\n"
        "  g = (f32[40000], f32[160000]) all-gather-start(x0), dimensions={0}\n"
        "  h = f32[160000] all-gather-done(g)\n"
        "  c = f32[40000] all-reduce-done(b)\n  d = f32[40000] all-reduce-done(a)\n"
        "  ROOT r = (f32[40000], f32[40000], f32[160000]) tuple(c, d, h)",
        ("f32[40000]", "f32[40000]"),
    ),
    "a computation beside": Check(
        "  s = ((f32[6]), f32[6], s32[]) async-start(x0), calls=reduced\n"
        "  y = f32[6] all-reduce(x0), to_apply=minus\n  d = f32[6] async-done(s)\n"
        "  ROOT r = f32[6] add(y, d)"
    ),
    "in a loop": Check(
        "  zero = s32[] constant(0)\n  s = (s32[], f32[6]) tuple(zero, x0)\n"
        "  w = (s32[], f32[6]) while(s), condition=condition, body=body\n"
        "  ROOT r = f32[6] get-tuple-element(w), index=1"
    ),
    "pairs over a channel": Check(
        f"  t = token[] after-all()\n"
        f"  r = (f32[6], u32[], token[]) recv(t), channel_id=1, {PAIRS}\n"
        f"  s = (f32[6], u32[], token[]) send(x0, t), channel_id=1, {PAIRS}\n"
        f"  u = token[] send-done(s), channel_id=1, {PAIRS}\n"
        f"  d = (f32[6], token[]) recv-done(r), channel_id=1, {PAIRS}\n"
        "  ROOT y = f32[6] get-tuple-element(d), index=0",
        counts=(1, RANKS),
    ),
    "a channel that says nothing of pairs": Check(
        WHO + "  three = s32[] constant(3)\n  one = s32[] constant(1)\n"
        "  is3 = pred[] compare(n, three), direction=EQ\n"
        "  m = s32[] select(is3, one, n)\n"
        "  ROOT r = f32[6] conditional(m, x0, x0, x0),"
        " branch_computations={sends, neither, receives}"
    ),
    "who they are": Check(
        "  r = u32[] replica-id()\n  p = u32[] partition-id()\n  s = u32[] add(r, p)\n"
        "  f = f32[] convert(s)\n  b = f32[6] broadcast(f), dimensions={}\n"
        "  ROOT q = f32[6] add(x0, b)",
        counts=(2, 2),
    ),
}
PARTS = """
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4], device_ids=[2,0,3,1]>}} {
  func.func @main(%x: tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<6x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, tensor<6xf32>) {
    %y = xla.transpose %x {dimensions = [1, 0]} : (tensor<7x6xf32>) -> tensor<6x7xf32>
    %zero = xla.constant dense<0.0> : tensor<f32>
    %s = xla.reduce %x, %zero {dimensions = [0]} : (tensor<7x6xf32>, tensor<f32>) -> tensor<6xf32>
        to_apply (%a: tensor<f32>, %b: tensor<f32>) {
      %c = xla.add %a, %b : tensor<f32>
      xla.return %c : tensor<f32>
    }
    func.return %y, %s : tensor<6x7xf32>, tensor<6xf32>
  }
}
"""
"""A program that says how its arrays are split."""
IN_PARTS = "in parts"
EXECUTORS = {
    "llvm": list(CHECKS),
    "reference": list(CHECKS),
    "interpreter": ["all-reduce in pieces"],
}


def main() -> None:
    """Runs all checks."""
    sys.path.insert(0, str(ROOT))
    from mpi4py import MPI  # noqa: PLC0415

    import lowerings  # noqa: PLC0415

    world = MPI.COMM_WORLD
    for backend, names in EXECUTORS.items():
        for name in names:
            check = CHECKS[name]
            options: dict[str, Any] = dict(
                zip(("replicas", "partitions"), check.counts, strict=True),
                backend=backend,
                input_format="hlo",
                time_limit=60,
            )
            arguments = [check.arrays(process) for process in range(RANKS)]
            program = lowerings.compile(check.text, communicator=world, **options)
            found: Any = [program(*arguments[world.rank]) for _ in range(check.calls)][-1]
            found = world.gather(found)
            if world.rank == 0:
                threads = lowerings.compile(check.text, **options)
                expected = threads.run_processes(arguments)
                print(f"{backend} {name}: {compared(found, expected)}", flush=True)
        array = np.random.default_rng(1).standard_normal((7, 6)).astype(np.float32)
        options = {"backend": backend, "partitioned": True}
        found = lowerings.compile(PARTS, communicator=world, **options)(array)
        if world.rank == 0:
            expected = lowerings.compile(PARTS, **options)(array)
            print(f"{backend} {IN_PARTS}: {compared([found], [expected])}", flush=True)


def compared(found: list[Any], expected: list[Any]) -> str:
    """`ok`, or the first process that has other bits."""
    for process, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        for one, other in zip(ours, theirs, strict=True):
            if one.dtype != other.dtype or one.shape != other.shape:
                return f"process {process} has {one.dtype}{one.shape}"
            if one.tobytes() != other.tobytes():
                return f"process {process} has {one}, not {other}"
    return "ok"


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        from mpi4py import MPI

        MPI.COMM_WORLD.Abort(1)
