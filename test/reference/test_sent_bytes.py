"""What collectives send, counted for more ranks than there are: the plan of docs/partitioning.md."""

from math import ceil

import numpy as np
import pytest
from hlo_programs import hlo, module_of
from sent_bytes import Sent, count_sent

from xla_dialect.devices.process_grid import PIECES_FROM, Exchange, Process, ProcessGrid
from xla_dialect.ops.collectives import CollectiveOp
from xla_dialect.reference.collectives import CollectiveFunctions

MEGABYTE = 1 << 20


def collective(line: str, shape: str) -> CollectiveOp:
    module = module_of(hlo(f"  x = {shape} parameter(0)\n  ROOT r = {line}"))
    return next(op for op in module.walk() if isinstance(op, CollectiveOp))


@pytest.mark.parametrize(("count", "ranks"), [(4, None), (256, None), (1024, [0, 1, 511, 1023])])
def test_an_all_reduce_in_pieces(count: int, ranks: list[int] | None):
    """Twice the array in 2 (n - 1) messages, however many ranks there are."""
    elements = MEGABYTE
    size = 4 * elements
    op = collective(f"f32[{elements}] all-reduce(x), to_apply=add", f"f32[{elements}]")
    assert size > PIECES_FROM
    sent = 2 * (count - 1) * size // count
    for each in count_sent(op, count, 1, ranks):
        assert each == Sent(2 * (count - 1), sent, sent)


def test_uneven_pieces():
    """The last ranks have less to send, or nothing."""
    op = collective("f32[20000] all-reduce(x), to_apply=add", "f32[20000]")
    count = 256
    piece = ceil(20000 / (count * 64)) * 64
    found = count_sent(op, count, 1)
    own = [min(piece, max(0, 20000 - n * piece)) for n in range(count)]
    for number, each in enumerate(found):
        others = sum(size > 0 for n, size in enumerate(own) if n != number)
        gathers = count - 1 if own[number] else 0
        assert each.messages == others + gathers
        assert each.bytes == 4 * (20000 - own[number] + gathers * own[number])
    assert max(each.bytes for each in found) <= 2 * 4 * (20000 + count * 64)


@pytest.mark.parametrize("count", [4, 256])
def test_other_collectives(count: int):
    small = collective("f32[8] all-reduce(x), to_apply=add", "f32[8]")
    gathered = collective(f"f32[{8 * count}] all-gather(x), dimensions={{0}}", "f32[8]")
    scattered = collective(
        "f32[8] reduce-scatter(x), dimensions={0}, to_apply=add", f"f32[{8 * count}]"
    )
    exchanged = collective(f"f32[{8 * count}] all-to-all(x), dimensions={{0}}", f"f32[{8 * count}]")
    for op in (small, gathered, scattered, exchanged):
        for each in count_sent(op, count, 1):
            assert each == Sent(count - 1, 32 * (count - 1), 32 * (count - 1))
    moved = collective("f32[8] collective-permute(x), source_target_pairs={{0,1},{1,2}}", "f32[8]")
    assert count_sent(moved, count, 1)[:4] == [
        Sent(1, 32, 0), Sent(1, 32, 32), Sent(0, 0, 32), Sent(),
    ]  # fmt: skip


def test_groups_of_a_mesh():
    """A rank sends to the members of its group only."""
    op = collective(
        "f32[262144] all-reduce(x), replica_groups=[32,8]<=[8,32]T(1,0), to_apply=add",
        "f32[262144]",
    )
    for each in count_sent(op, 256, 1):
        assert each == Sent(14, 2 * 7 * 4 * 262144 // 8, 2 * 7 * 4 * 262144 // 8)


def test_what_threads_exchange_is_what_is_counted(monkeypatch: pytest.MonkeyPatch):
    op = collective("f32[30000] all-reduce(x), to_apply=add", "f32[30000]")
    sent = {rank: [0, 0] for rank in range(3)}
    real = Process.exchange

    def noted(
        self: Process, key: object, members: object, outgoing: object, *rest: object
    ) -> Exchange:
        for number, arrays in enumerate(outgoing):  # pyright: ignore[reportArgumentType]
            for array in arrays if number != self.number else ():
                sent[self.number][0] += array.nbytes > 0
                sent[self.number][1] += array.nbytes
        return real(self, key, members, outgoing, *rest)  # pyright: ignore

    monkeypatch.setattr(Process, "exchange", noted)
    grid = ProcessGrid(3)

    def run(place: tuple[int, int]) -> None:
        array, result = np.ones(30000, np.float32), np.empty(30000, np.float32)
        functions = CollectiveFunctions(Process(grid, place))
        functions.reduced(op, lambda a, b: (a + b,), [array])([result])  # pyright: ignore
        assert (result == 3).all()

    grid.run({place: lambda place=place: run(place) for place in grid.places})
    expected = count_sent(op, 3, 1)
    assert [tuple(each) for each in sent.values()] == [(e.messages, e.bytes) for e in expected]
