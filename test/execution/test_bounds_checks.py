"""Machine code with bounds checks: wrong kernels end in an error, right ones do what they did."""

from pathlib import Path

import numpy as np
import pytest
from loops_level import AnyArray, parse, spec, spell
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.dialects.func import FuncOp

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.execution.code import BoundsViolation
from lowerings.execution.executable import Executable
from lowerings.execution.function_signature import signature_of
from lowerings.execution.loops_compiler import compile_loops_module
from lowerings.execution.signature import Signature
from lowerings.targets.llvm.bounds_checks import CHECKS, UNCHECKED
from lowerings.targets.llvm.module import HANDLERS
from tools import xla_run
from xla_dialect.diagnostics import LocatedError, XlaError

PROGRAMS = Path(__file__).parents[1] / "programs"


def checked(text: str, parameters: list[str], results: list[str]) -> Executable:
    signature = Signature(tuple(map(spec, parameters)), tuple(map(spec, results)))
    return compile_loops_module(parse(text), signature, check_bounds=True)


def program(body: str) -> str:
    return f"""
    func.func @main(%x: memref<4x8xf32>, %i: memref<i64>, %r: memref<4x8xf32>)
        attributes {{xla.entry}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f32
      %n64 = memref.load %i[] : memref<i64>
      %n = arith.index_cast %n64 : i64 to index
      {body}
      func.return
    }}
    """


X = np.arange(32, dtype=np.float32).reshape(4, 8)


def run(body: str, number: int) -> AnyArray:
    compiled = checked(program(body), [spell(X), "s64[]"], ["f32[4,8]"])
    (found,) = compiled(X, np.array(number))
    return found


ROW = "memref<8xf32, strided<[1], offset: ?>>"
LANES = "arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>"
MASK = "vector.create_mask %n : vector<4xi1>"

SUBJECTS = {
    "load": (
        "%v = memref.load %x[%c1, %n] : memref<4x8xf32>",
        (0, 7),
        (8, -1, 2**62, -(2**63)),
        "memref.load in @main: index {} in dimension 1 of memref<4x8xf32>, whose size is 8",
    ),
    "store": (
        "memref.store %zero, %r[%n, %c0] : memref<4x8xf32>",
        (0, 3),
        (4, -1),
        "memref.store in @main: index {} in dimension 0 of memref<4x8xf32>, whose size is 4",
    ),
    "vector load": (
        "%v = vector.load %x[%c0, %n] : memref<4x8xf32>, vector<4xf32>",
        (0, 4),
        (5, -1, 2**63 - 1),
        "vector.load in @main: 4 elements from index {} in dimension 1 of memref<4x8xf32>, "
        "whose size is 8",
    ),
    "vector longer than a row": (
        "%v = vector.load %x[%c0, %n] : memref<4x8xf32>, vector<9xf32>",
        (),
        (0, -1),
        "9 elements from index {} in dimension 1",
    ),
    "vector store": (
        "%v = arith.constant dense<1.0> : vector<3xf32>\n"
        "vector.store %v, %r[%c0, %n] : memref<4x8xf32>, vector<3xf32>",
        (5,),
        (6,),
        "3 elements from index {} in dimension 1",
    ),
    "masked load": (
        f"%m = {MASK}\n%o = arith.constant dense<0.0> : vector<4xf32>\n"
        "%v = vector.maskedload %x[%c0, %c5], %m, %o\n"
        ": memref<4x8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>",
        (0, 3),
        (4,),
        "vector.maskedload in @main: index 8 of a lane in dimension 1",
    ),
    "masked store in a row that there is not": (
        f"%m = {MASK}\n%o = arith.constant dense<0.0> : vector<4xf32>\n"
        "vector.maskedstore %r[%c4, %c0], %m, %o : memref<4x8xf32>, vector<4xi1>, vector<4xf32>",
        (0, -1),
        (1,),
        "vector.maskedstore in @main: index 4 in dimension 0",
    ),
    "gather": (
        f"%m = arith.constant dense<[true, false, true, true]> : vector<4xi1>\n%d = {LANES}\n"
        "%o = arith.constant dense<0.0> : vector<4xf32>\n"
        "%v = vector.gather %x[%c0, %n] [%d], %m, %o\n"
        ": memref<4x8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>",
        (0, 4),
        (5,),
        "vector.gather in @main: index 8 of a lane",
    ),
    "gather from negative places": (
        "%m = arith.constant dense<true> : vector<4xi1>\n"
        "%d = arith.constant dense<[0, -2, 1, 2]> : vector<4xi32>\n"
        "%o = arith.constant dense<0.0> : vector<4xf32>\n"
        "%v = vector.gather %x[%c0, %n] [%d], %m, %o\n"
        ": memref<4x8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>",
        (2, 5),
        (1,),
        "vector.gather in @main: index -1 of a lane",
    ),
    "transfer within bounds": (
        "%v = vector.transfer_read %x[%c0, %n], %zero {in_bounds = [true]}\n"
        ": memref<4x8xf32>, vector<4xf32>",
        (4,),
        (5,),
        "4 elements from index {} in dimension 1",
    ),
    "transfer over the end": (
        "%v = vector.transfer_read %x[%n, %c5], %zero : memref<4x8xf32>, vector<4xf32>",
        (3,),
        (4,),
        "index {} in dimension 0",
    ),
    "subview": (
        f"%v = memref.subview %x[%n, 0] [1, 8] [1, 1] : memref<4x8xf32> to {ROW}",
        (0, 3),
        (4, -1, 2**63 - 1),
        "memref.subview in @main: element {} in dimension 0 of memref<4x8xf32>, whose size is 4",
    ),
    "subview of so many": (
        "%v = memref.subview %x[1, 0] [%n, 8] [1, 1]\n"
        ": memref<4x8xf32> to memref<?x8xf32, strided<[8, 1], offset: 8>>",
        (0, 1, 3),
        (4, -1, 2**62),
        "memref.subview in @main: element",
    ),
    "loop that goes too far by one": (
        "scf.for %k = %c0 to %n step %c1 {\n"
        "%v = memref.load %x[%c0, %k] : memref<4x8xf32>\n"
        "memref.store %v, %r[%c0, %k] : memref<4x8xf32>\n}",
        (8,),
        (9,),
        "memref.load in @main: index 8 in dimension 1",
    ),
    "vector loop whose last step is too long": (
        "scf.for %k = %c0 to %n step %c4 {\n"
        "%v = vector.load %x[%c0, %k] : memref<4x8xf32>, vector<4xf32>\n"
        "vector.store %v, %r[%c0, %k] : memref<4x8xf32>, vector<4xf32>\n}",
        (8, 5),
        (9,),
        "vector.load in @main: 4 elements from index 8",
    ),
    "cast": (
        "%s = memref.subview %x[0, 0] [%n, 8] [1, 1]\n"
        ": memref<4x8xf32> to memref<?x8xf32, strided<[8, 1]>>\n"
        '%v = "memref.cast"(%s)\n'
        ": (memref<?x8xf32, strided<[8, 1]>>) -> memref<4x8xf32, strided<[8, 1]>>",
        (4,),
        (3,),
        "memref.cast in @main: size {} of dimension 0, where 4 is stated",
    ),
    "reinterpret_cast": (
        "%v = memref.reinterpret_cast %x to offset: [%n], sizes: [8], strides: [2]\n"
        ": memref<4x8xf32> to memref<8xf32, strided<[2], offset: ?>>",
        (0, 17),
        (18, -1),
        "memref.reinterpret_cast in @main",
    ),
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_an_access_outside_of_its_array_is_an_error(name: str) -> None:
    body, right, wrong, message = SUBJECTS[name]
    for number in right:
        run(body, number)
    for number in wrong:
        with pytest.raises(XlaError) as caught:
            run(body, number)
        assert message.format(number) in str(caught.value)


ARENA = """
func.func @main(%x: memref<4xf32>, %r: memref<4xf32>, %arena: memref<64xi8>)
    attributes {xla.entry} {
  %shift = arith.constant SHIFT : index
  %v = memref.view %arena[%shift][] : memref<64xi8> to memref<4xf32>
  "memref.copy"(%x, %v) : (memref<4xf32>, memref<4xf32>) -> ()
  "memref.copy"(%v, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
"""


def test_a_view_beyond_the_arena_is_an_error() -> None:
    x = np.arange(4, dtype=np.float32)
    (found,) = checked(ARENA.replace("SHIFT", "48"), ["f32[4]"], ["f32[4]"])(x)
    np.testing.assert_array_equal(found, x)
    for shift in (49, 64, -1, 2**62):
        with pytest.raises(BoundsViolation, match=f"byte {shift} as the first of memref<4xf32>"):
            checked(ARENA.replace("SHIFT", str(shift)), ["f32[4]"], ["f32[4]"])(x)


KERNEL = """
module {
  func.func @main(%x: memref<8xf32>, %r: memref<8xf32>) attributes {xla.entry} {
    func.call @outer(%x, %r) : (memref<8xf32>, memref<8xf32>) -> ()
    %one = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : index
    memref.store %one, %r[%c0] : memref<8xf32>
    func.return
  }
  func.func private @outer(%x: memref<8xf32>, %r: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %end = arith.constant END : index
    scf.for %i = %c0 to %end step %c1 {
      %f = func.call @inner(%x, %i) : (memref<8xf32>, index) -> f32
      memref.store %f, %r[%i] : memref<8xf32>
    }
    func.return
  }
  func.func private @inner(%x: memref<8xf32>, %i: index) -> f32 {
    %c2 = arith.constant 2 : index
    %j = arith.addi %i, %c2 : index
    %f = memref.load %x[%j] : memref<8xf32>
    func.return %f : f32
  }
}
"""


def test_callers_end_too_and_the_next_run_starts_anew() -> None:
    x = np.arange(8, dtype=np.float32)
    (found,) = checked(KERNEL.replace("END", "6"), ["f32[8]"], ["f32[8]"])(x)
    assert found[:6].tolist() == [1, 3, 4, 5, 6, 7]
    wrong = checked(KERNEL.replace("END", "7"), ["f32[8]"], ["f32[8]"])
    for _ in range(2):
        with pytest.raises(
            BoundsViolation, match=r"memref\.load in @inner: index 8 in dimension 0"
        ):
            wrong(x)


def test_every_operation_on_memory_is_checked_or_needs_no_check() -> None:
    named = {kind for kind in HANDLERS if kind.name.split(".")[0] in ("memref", "vector")}
    on_memory = {kind for kind in named if _takes_memory(kind)}
    assert on_memory <= CHECKS.keys() | UNCHECKED.keys()
    assert not CHECKS.keys() & UNCHECKED.keys()


def _takes_memory(kind: type) -> bool:
    """Whether an operation of the dialects of memory and vectors has an operand that is a memref."""
    if kind.name.startswith("memref."):
        return True
    definition = kind.get_irdl_definition()
    return any(MemRefType.__name__ in str(each.constr) for _, each in definition.operands)


HLO = """HloModule m
ENTRY main {
  x = f32[33,7] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  y = f32[4,7] dynamic-slice(x, i, z), dynamic_slice_sizes={4,7}
  ROOT r = f32[4,7] exponential(y)
}
"""


def test_a_tail_that_begins_one_too_late_is_found_with_its_instruction() -> None:
    module = load_program(HLO)
    signature = signature_of(next(op for op in module.ops if isinstance(op, FuncOp)))
    PassManager(make_context()).run(module, parse_passes("native"))
    kernel = next(
        op for op in module.ops if isinstance(op, FuncOp) and "xla.kernel" in op.attributes
    )
    tail = next(
        op
        for op in kernel.walk()
        if isinstance(op, ConstantOp) and op.value == IntegerAttr.from_index_int_value(16)
    )
    tail.properties["value"] = IntegerAttr.from_index_int_value(17)
    program = compile_loops_module(module, signature, check_bounds=True)
    with pytest.raises(LocatedError) as caught:
        program(np.zeros((33, 7), np.float32), np.int32(0))
    error = caught.value
    assert (error.line, error.column) == (7, 8)
    assert "vector.load in @exp_kernel_0: 12 elements from index 17 in dimension 0" in str(error)


@pytest.mark.parametrize("start", [0, 5, 29, 30, -1, 2**31 - 1, -(2**31)])
def test_hostile_starts_are_clamped(start: int) -> None:
    x = np.linspace(-1, 1, 231, dtype=np.float32).reshape(33, 7)
    (found,) = lowerings.compile(HLO, check_bounds=True)(x, np.int32(start))
    first = min(max(start, 0), 29)
    np.testing.assert_allclose(found, np.exp(x[first : first + 4]), rtol=1e-6)


def test_an_emulated_backend_cannot_check(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(XlaError, match="the backend 'riscv64' cannot check bounds"):
        lowerings.compile(HLO, backend="riscv64", check_bounds=True)


@pytest.mark.parametrize("name", ["argmax", "lstm", "mlp_classifier", "transformer_block"])
def test_programs_of_jax_stay_inside_of_their_arrays(name: str) -> None:
    arguments = [f"--input=@{PROGRAMS / name}.inputs.npz"]
    expected = [f"--expected-output=@{PROGRAMS / name}.outputs.npz"]
    path = str(PROGRAMS / f"{name}.mlir")
    assert xla_run.main([path, "--check-bounds", "--backend=llvm", *arguments, *expected]) == 0
