"""Functions, calls and what is promised of arguments."""

import re

import numpy as np
import pytest
from loops_level import parse, run

from lowerings.targets.llvm.machine import CodeGenerationError, Machine, host
from lowerings.targets.llvm.module import emit_module
from lowerings.targets.llvm.types import EmissionError


def test_calls_of_scalars():
    """No result, one and several; vectors and complex numbers among them."""
    text = """
    func.func private @none() {
      func.return
    }
    func.func private @one(%a: f32) -> f32 {
      %b = arith.addf %a, %a : f32
      func.return %b : f32
    }
    func.func private @several(%a: f32, %v: vector<4xf32>) -> (vector<4xf32>, i1, complex<f32>) {
      %zero = arith.constant 0.0 : f32
      %p = arith.cmpf ogt, %a, %zero : f32
      %z = complex.create %a, %zero : complex<f32>
      func.return %v, %p, %z : vector<4xf32>, i1, complex<f32>
    }
    func.func @main(%x: memref<4xf32>, %r: memref<4xf32>, %s: memref<2xf32>, %p: memref<i1>)
        attributes {xla.entry} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      func.call @none() : () -> ()
      %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
      %a = memref.load %x[%c1] : memref<4xf32>
      %b = func.call @one(%a) : (f32) -> f32
      %w, %t, %z = func.call @several(%b, %v)
        : (f32, vector<4xf32>) -> (vector<4xf32>, i1, complex<f32>)
      vector.store %w, %r[%c0] : memref<4xf32>, vector<4xf32>
      %re = complex.re %z : complex<f32>
      %im = complex.im %z : complex<f32>
      memref.store %re, %s[%c0] : memref<2xf32>
      memref.store %im, %s[%c1] : memref<2xf32>
      memref.store %t, %p[] : memref<i1>
      func.return
    }
    """
    x = np.array([1, 2, 3, 4], np.float32)
    r, s, p = run(text, [x], ["f32[4]", "f32[2]", "pred[]"])
    assert (r.tolist(), s.tolist(), p.tolist()) == ([1, 2, 3, 4], [4, 0], True)


def test_function_that_returns_a_memref():
    text = """
    func.func private @tail(%x: memref<8xf32>, %n: index)
        -> memref<?xf32, strided<[2], offset: ?>> {
      %v = memref.subview %x[%n] [%n] [2]
        : memref<8xf32> to memref<?xf32, strided<[2], offset: ?>>
      func.return %v : memref<?xf32, strided<[2], offset: ?>>
    }
    func.func @main(%x: memref<8xf32>, %r: memref<3xf32>) attributes {xla.entry} {
      %c3 = arith.constant 3 : index
      %v = func.call @tail(%x, %c3)
        : (memref<8xf32>, index) -> memref<?xf32, strided<[2], offset: ?>>
      %w = "memref.cast"(%v) : (memref<?xf32, strided<[2], offset: ?>>)
        -> memref<3xf32, strided<[2], offset: ?>>
      "memref.copy"(%w, %r) : (memref<3xf32, strided<[2], offset: ?>>, memref<3xf32>) -> ()
      func.return
    }
    """
    (found,) = run(text, [np.arange(8, dtype=np.float32)], ["f32[3]"])
    assert found.tolist() == [3, 5, 7]


def test_declared_functions_are_linked_from_the_process():
    text = """
    func.func private @ldexp(f64, i32) -> f64
    func.func @main(%x: memref<f64>, %r: memref<f64>) attributes {xla.entry} {
      %a = memref.load %x[] : memref<f64>
      %k = arith.constant 3 : i32
      %b = func.call @ldexp(%a, %k) : (f64, i32) -> f64
      memref.store %b, %r[] : memref<f64>
      func.return
    }
    """
    assert run(text, [np.array(1.5)], ["f64[]"])[0] == 12


def test_the_module_may_declare_what_the_emitter_declares():
    text = """
    func.func private @free(memref<f64>)
    func.func @main(%r: memref<f64>) attributes {xla.entry} {
      %one = arith.constant 1.0 : f64
      %t = memref.alloc() : memref<f64>
      %u = memref.alloc() : memref<f64>
      memref.store %one, %r[] : memref<f64>
      memref.dealloc %t : memref<f64>
      func.call @free(%u) : (memref<f64>) -> ()
      func.return
    }
    """
    assert run(text, [], ["f64[]"])[0] == 1


def test_undefined_function_is_a_clear_error():
    text = """
    func.func private @nowhere_to_be_found()
    func.func @main(%r: memref<f64>) attributes {xla.entry} {
      func.call @nowhere_to_be_found() : () -> ()
      func.return
    }
    """
    with pytest.raises(CodeGenerationError, match="cannot link the program"):
        run(text, [], ["f64[]"])


@pytest.mark.parametrize("name", ["xla.main", "free", "a b", 'quote"d', "caf\u00e9", "exp"])
def test_names_of_functions(name: str):
    """Any name works, also of what the emitter itself or the C library calls so."""
    quoted = '"' + name.replace('"', "\\22") + '"'
    text = f"""
    func.func private @{quoted}(%x: f64) -> f64 {{
      %y = arith.addf %x, %x : f64
      func.return %y : f64
    }}
    func.func @main(%r: memref<f64>) attributes {{xla.entry}} {{
      %a = arith.constant 1.5 : f64
      %b = func.call @{quoted}(%a) : (f64) -> f64
      %t = memref.alloc() : memref<f64>
      memref.store %b, %t[] : memref<f64>
      %c = memref.load %t[] : memref<f64>
      memref.dealloc %t : memref<f64>
      memref.store %c, %r[] : memref<f64>
      func.return
    }}
    """
    assert run(text, [], ["f64[]"])[0] == 3


def header(text: str, symbol: str) -> str:
    """The first line of a function's definition."""
    found = re.search(rf"^define .*{re.escape(symbol)}\(.*$", emit_module(parse(text)).text, re.M)
    assert found is not None
    return found.group()


def test_promises_about_kernel_arguments():
    text = """
    func.func private @kernel(%x: memref<4x8xf32>, %y: memref<4x8xf32, strided<[16, 2], offset: 3>>,
                              %z: memref<?xf32>, %e: memref<0xf32>) attributes {xla.kernel} {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0, %c0] : memref<4x8xf32>
      %w = memref.subview %y[1, 1] [1, 1] [1, 1] : memref<4x8xf32, strided<[16, 2], offset: 3>>
        to memref<f32, strided<[], offset: 21>>
      memref.store %v, %w[] : memref<f32, strided<[], offset: 21>>
      func.return
    }
    """
    found = header(text, "@xla.kernel")
    assert found.startswith("define internal void @xla.kernel(")
    parameters = re.findall(r"(ptr|i64) ([a-z0-9() ]*)%", found)
    assert [facts.strip() for _, facts in parameters] == [
        "noundef noalias readonly dereferenceable(128)",
        f"noundef noalias dereferenceable({(3 * 16 + 7 * 2 + 1) * 4})",
        "noundef noalias readonly",
        "",
        "noundef noalias readonly",
    ]
    assert "#1 {" in found


def test_stated_alignment_and_overlapping_arguments():
    text = """
    func.func private @f(%x: memref<4xf32> {llvm.align = 64 : i64}, %y: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : memref<4xf32>
      func.return
    }
    """
    assert (
        "(ptr noundef readonly align 64 dereferenceable(16) %v1, ptr noundef readonly "
        in header(text, "@xla.f")
    )


def test_memory_that_calls_may_write_is_not_readonly():
    text = """
    func.func private @g(%x: memref<4xf32>)
    func.func private @f(%x: memref<4xf32>, %y: memref<4xf32>, %p: i1) attributes {xla.kernel} {
      func.call @g(%x) : (memref<4xf32>) -> ()
      func.return
    }
    """
    assert re.findall(r"readonly", header(text, "@xla.f")) == ["readonly"]
    text = """
    func.func private @f(%x: memref<4xf32>, %y: memref<4xf32>, %p: i1, %v: f32) {
      %c0 = arith.constant 0 : index
      %z = scf.if %p -> (memref<4xf32>) {
        scf.yield %x : memref<4xf32>
      } else {
        scf.yield %y : memref<4xf32>
      }
      memref.store %v, %z[%c0] : memref<4xf32>
      func.return
    }
    """
    assert "readonly" not in header(text, "@xla.f")


def test_target_attributes():
    text = "func.func private @f() {\nfunc.return\n}"
    machine = Machine("x86_64-unknown-linux-gnu", "znver4", "+avx512f")
    found = emit_module(parse(text), machine).text
    assert 'target triple = "x86_64-unknown-linux-gnu"' in found
    assert '"target-cpu"="znver4" "target-features"="+avx512f" "prefer-vector-width"="512"' in found
    machine = Machine("x86_64-unknown-linux-gnu", "skylake", "+avx512f,-sse4a")
    assert "prefer-vector-width" in machine.attributes
    assert "prefer-vector-width" not in machine.without("-avx512f").attributes


def test_what_needs_a_feature_goes_with_it():
    """LLVM has taken it away as well, and ends the process where an instruction needs it."""
    features = "+avx,+avx2,+f16c,+fma,+avx512f,+avx512bw,+avx512vnni,+avx512bf16"
    machine = Machine("x86_64-unknown-linux-gnu", "znver4", features)
    for taken, bits in ("-avx512f", 256), ("-fma", 256), ("-avx2", 256), ("-sse4.2", 128):
        less = machine.without(taken)
        assert (less.multiplies_quads, less.vector_bits) == (False, bits)
    assert not machine.without("-avx512bw").multiplies_bfloats


def test_wide_vectors_become_wide_instructions():
    """Without "prefer-vector-width" LLVM would split them in two."""
    machine = Machine("x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512vl")
    text = """
    func.func private @other(%x: memref<16xf32>)
    func.func @f(%x: memref<16xf32>) {
      %c0 = arith.constant 0 : index
      %v = vector.load %x[%c0] : memref<16xf32>, vector<16xf32>
      %w = arith.addf %v, %v : vector<16xf32>
      vector.store %w, %x[%c0] : memref<16xf32>, vector<16xf32>
      func.return
    }
    """
    emitted = emit_module(parse(text), machine)
    assert "zmm" in machine.assembly(emitted.text)


def test_code_for_another_processor():
    machine = Machine("riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d")
    text = """
    func.func @f(%x: memref<16xf32>) {
      %c3 = arith.constant 3 : index
      %v = memref.load %x[%c3] : memref<16xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%c3] : memref<16xf32>
      func.return
    }
    """
    emitted = emit_module(parse(text), machine)
    assert "fadd.s" in machine.assembly(emitted.text)
    assert machine.object_code(emitted.text)[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @main(%x: memref<?xf32>) attributes {xla.entry} {\nfunc.return\n}",
            r"an entry takes memrefs of known sizes, not memref<\?xf32>",
        ),
        (
            "func.func @main(%x: f32) attributes {xla.entry} {\nfunc.return\n}",
            r"an entry takes memrefs of known sizes, not f32",
        ),
        (
            "func.func @main(%x: f32) -> f32 attributes {xla.entry} {\nfunc.return %x : f32\n}",
            r"func.func in @main: an entry",
        ),
        ("func.func @f(%x: tensor<4xf32>) {\nfunc.return\n}", r"type tensor<4xf32> has no form"),
        ("func.func @f(%x: i7) {\nfunc.return\n}", r"type i7 has no form in LLVM IR"),
        ("func.func @f(%x: f80) {\nfunc.return\n}", r"type f80 has no form in LLVM IR"),
        (
            "func.func @f(%x: tensor<4xf32>) {\n"
            "%y = tensor.empty() : tensor<4xf32>\nfunc.return\n}",
            r"tensor<4xf32> has no form",
        ),
        (
            'func.func @f() {\n"test.op"() : () -> ()\nfunc.return\n}',
            r"test.op in @f: this operation has no form in LLVM IR here; lower it before",
        ),
        (
            'func.func @f(%x: i32) {\n"test.termop"() [^bb1] : () -> ()\n^bb1:\nfunc.return\n}',
            r"test.termop in @f: only operations of cf go to other blocks",
        ),
        ("%x = arith.constant 0 : i32", r"arith.constant: only functions and memref.global"),
    ],
)
def test_errors(text: str, message: str):
    with pytest.raises(EmissionError, match=message):
        emit_module(parse(text))


def test_errors_say_where():
    text = 'func.func @f(%x: f32) {\n%y = math.exp %x : f32 loc("model.py":3:7)\nfunc.return\n}'
    with pytest.raises(EmissionError, match=r"^model.py:3:7: cannot emit LLVM IR: math.exp in @f"):
        emit_module(parse(text))


def test_invalid_ir_is_a_compilation_error():
    with pytest.raises(CodeGenerationError, match="LLVM rejects the module"):
        host().object_code("define void @f() {\n  ret i32 0\n}\n")
    with pytest.raises(CodeGenerationError, match="LLVM has no target"):
        Machine("nonsense-unknown-unknown").object_code("")
