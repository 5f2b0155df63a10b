"""Damaged files: a program, or one error with the file and an offset, in little time and memory."""

import random
import re
import time
import tracemalloc
from functools import cache
from pathlib import Path

import pytest
from damaged_text import damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from stablehlo_oracle import artifact_of, bytecode_of
from sweeps import few_examples

from lowerings.driver.program import load_program
from xla_dialect.binary import BinaryError, read_binary
from xla_dialect.diagnostics import XlaError

pytestmark = pytest.mark.jax

PROGRAM = """
module @m {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %i: tensor<2x1xi64>) -> (tensor<2x8xf32>, tensor<4x4xf32>) {
    %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
    %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %s = stablehlo.tanh %b {jax.note = "a note"} : tensor<4x8xf32>
    %g = "stablehlo.gather"(%s, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<2x1xi64>) -> tensor<2x8xf32>
    %d = stablehlo.dot_general %a, %s, contracting_dims = [1] x [1],
      precision = [HIGH, DEFAULT] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 2>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %m = stablehlo.maximum %x, %y : tensor<f32>
        stablehlo.return %m : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x7xf32>
    return %g, %d : tensor<2x8xf32>, tensor<4x4xf32>
  }
}
"""
EXPORTS = Path(__file__).parent / "inputs"
WORDS = ("\0", "\1", "\xff", "\xff" * 9, "ML\xefR", "\x01\x01", "\x80\x80", "builtin", "vhlo")


@cache
def files() -> tuple[bytes, ...]:
    """Files of the same program in every form of bytecode, and files of `jax.export`."""
    found = (bytecode_of(PROGRAM), *(artifact_of(PROGRAM, v) for v in ("0.9.0", "1.17.0")))
    exports = (EXPORTS / f"{name}.jaxexport" for name in ("plain", "sharded"))
    return (*(each for each in found if each is not None), *(e.read_bytes() for e in exports))


def check(data: bytes) -> None:
    """A file is read, or there is one error that names it; its content may break other rules."""
    message = "damaged.bin: error: "
    try:
        read_binary(data, "damaged.bin")
    except XlaError as error:
        message = str(error)
    # The text of a proto has lines.
    assert re.match(r"damaged\.bin(:\d+:\d+)?: error: ", message), message


def test_whole_files_are_read() -> None:
    assert len(files()) == 5
    for data in files():
        load_program(data)


def test_truncated_files_are_an_error_with_the_offset() -> None:
    for data in files()[:3]:
        for size in random.Random(1).sample(range(8, len(data)), 40):
            with pytest.raises(BinaryError, match=r"^f\.bin: error: offset \d+: "):
                read_binary(data[:size], "f.bin")


@few_examples(60)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(files()))
    check(damaged(data, file.decode("latin-1"), WORDS).encode("latin-1", "replace"))


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    check(b"ML\xefR\x0dStableHLO_v1.7.0\0" + data)


def test_sizes_that_are_not_there_take_no_memory() -> None:
    """Every byte in turn announces as much as it can."""
    data = files()[2]
    start = time.process_time()
    for place in range(24, len(data), 7):
        tracemalloc.start()
        check(data[:place] + b"\0" + b"\xff" * 7 + b"\x0f" + data[place + 1 :])
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 64 << 20
    assert time.process_time() - start < 60
