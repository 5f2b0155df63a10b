// RUN: xla-opt %s -p xla-annotate-work | filecheck %s

#row = affine_map<(d0) -> (d0)>
#first = affine_map<(d0) -> (0)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#input = affine_map<(d0, d1) -> (d0 + d1)>
#window = affine_map<(d0, d1) -> (d1)>
#output = affine_map<(d0, d1) -> (d0)>

// 4 x 5 x 6 multiply-adds of 2 operations. 24 + 30 elements of 4 bytes are read, 20 are written;
// what the fill has written is not read from memory.

// CHECK: func.func private @contraction({{.*}}) attributes {xla.kernel, xla.work = {bytes = 296 : i64, f32_operations = 240 : i64, f64_operations = 0 : i64}} {
func.func private @contraction(%x: memref<4x6xf32>, %y: memref<6x5xf32>, %z: memref<4x5xf32>) attributes {xla.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%z : memref<4x5xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : memref<4x6xf32>, memref<6x5xf32>) outs(%z : memref<4x5xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %r, %s : f32
    linalg.yield %t : f32
  }
  func.return
}

// In place: 8 elements of 8 bytes are read and written. An fma is two, the square root one.

// CHECK: func.func private @in_place({{.*}}) attributes {xla.kernel, xla.work = {bytes = 128 : i64, f32_operations = 0 : i64, f64_operations = 24 : i64}} {
func.func private @in_place(%x: memref<8xf64>) attributes {xla.kernel} {
  linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%x : memref<8xf64>) {
  ^bb0(%p: f64):
    %s = math.fma %p, %p, %p : f64
    %t = math.sqrt %s : f64
    linalg.yield %t : f64
  }
  func.return
}

// A window of 3 at 8 places: the input has 10 elements, and the shape of the window is not read.
// Narrow floats are computed in f32; comparisons, conversions and integers are not counted.

// CHECK: func.func private @window({{.*}}) attributes {xla.kernel, xla.work = {bytes = 52 : i64, f32_operations = 24 : i64, f64_operations = 0 : i64}} {
func.func private @window(%x: memref<10xbf16>, %w: memref<3xbf16>, %y: memref<8xbf16>) attributes {xla.kernel} {
  linalg.generic {indexing_maps = [#input, #window, #output], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<10xbf16>, memref<3xbf16>) outs(%y : memref<8xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %r: bf16):
    %less = arith.cmpf olt, %p, %r : bf16
    %i = linalg.index 0 : index
    %j = arith.addi %i, %i : index
    %wide = arith.extf %p : bf16 to f32
    %narrow = arith.truncf %wide : f32 to bf16
    %s = arith.addf %narrow, %r : bf16
    %t = arith.select %less, %s, %r : bf16
    linalg.yield %t : bf16
  }
  func.return
}

// One element of the input is read at all 8 points; a load at an index that is computed reads at
// most one element at each. 4 + 8 * 4 bytes, and 8 * 4 for what is written.

// CHECK: func.func private @gather({{.*}}) attributes {xla.kernel, xla.work = {bytes = 68 : i64, f32_operations = 0 : i64, f64_operations = 0 : i64}} {
func.func private @gather(%x: memref<1xi32>, %table: memref<1000xf32>, %y: memref<8xf32>) attributes {xla.kernel} {
  linalg.generic {indexing_maps = [#first, #row], iterator_types = ["parallel"]} ins(%x : memref<1xi32>) outs(%y : memref<8xf32>) {
  ^bb0(%p: i32, %r: f32):
    %i = arith.index_cast %p : i32 to index
    %t = memref.load %table[%i] : memref<1000xf32>
    linalg.yield %t : f32
  }
  func.return
}

// A product of complex numbers takes 4 multiplications and 2 additions.

// CHECK: func.func private @complex({{.*}}) attributes {xla.kernel, xla.work = {bytes = 128 : i64, f32_operations = 48 : i64, f64_operations = 0 : i64}} {
func.func private @complex(%x: memref<8xcomplex<f32>>) attributes {xla.kernel} {
  linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%x : memref<8xcomplex<f32>>) {
  ^bb0(%p: complex<f32>):
    %s = complex.mul %p, %p : complex<f32>
    linalg.yield %s : complex<f32>
  }
  func.return
}

// A copy of 6 elements in 2 x 3, of which there are 2 x 4 in memory; nothing is left of none.

// CHECK: func.func private @copy({{.*}}) attributes {xla.kernel, xla.work = {bytes = 48 : i64, f32_operations = 0 : i64, f64_operations = 0 : i64}} {
func.func private @copy(%x: memref<2x3xf32, strided<[4, 1], offset: ?>>, %y: memref<2x3xf32>) attributes {xla.kernel} {
  "memref.copy"(%x, %y) : (memref<2x3xf32, strided<[4, 1], offset: ?>>, memref<2x3xf32>) -> ()
  func.return
}

// CHECK: func.func private @empty({{.*}}) attributes {xla.kernel, xla.work = {bytes = 0 : i64, f32_operations = 0 : i64, f64_operations = 0 : i64}} {
func.func private @empty(%x: memref<0xf64>) attributes {xla.kernel} {
  linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%x : memref<0xf64>) {
  ^bb0(%p: f64):
    %s = arith.negf %p : f64
    linalg.yield %s : f64
  }
  func.return
}

// CHECK: func.func @main({{.*}}) {
func.func @main(%x: memref<8xf64>) {
  func.call @in_place(%x) : (memref<8xf64>) -> ()
  func.return
}
