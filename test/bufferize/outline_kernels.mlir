// RUN: xla-opt %s --split-input-file -p xla-outline-kernels | filecheck %s

// A contraction takes along the fill of its output, with a constant of its own. Equal kernels
// exist once: names, the offsets of slices, and where the operands come from, do not matter.

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %x: memref<8x8xf32>, %w: memref<3x8x8xf32>, %y: memref<8x8xf32>, %z: memref<8x8xf32>) attributes {xla.entry} {
// CHECK-NEXT:    %w0 = memref.subview %w[0, 0, 0] [1, 8, 8] [1, 1, 1] : memref<3x8x8xf32> to memref<8x8xf32>
// CHECK-NEXT:    %w1 = memref.subview %w[1, 0, 0]
// CHECK-NEXT:    %w2 = memref.subview %w[2, 0, 0]
// CHECK-NEXT:    func.call @contraction_kernel_0(%x, %w0, %y) : (memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) -> ()
// CHECK-NEXT:    %[[W1:.*]] = "memref.cast"(%w1) : (memref<8x8xf32, strided<[8, 1], offset: 64>>) -> memref<8x8xf32, strided<[8, 1], offset: ?>>
// CHECK-NEXT:    func.call @contraction_kernel_1(%x, %[[W1]], %y)
// CHECK-NEXT:    %[[W2:.*]] = "memref.cast"(%w2)
// CHECK-NEXT:    func.call @contraction_kernel_1(%y, %[[W2]], %z)
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-NEXT:  func.func private @contraction_kernel_0(
// CHECK:       func.func private @contraction_kernel_1(%x: memref<8x8xf32>, %w1: memref<8x8xf32, strided<[8, 1], offset: ?>>, %y: memref<8x8xf32>) attributes {xla.kernel} {
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    linalg.fill ins(%[[ZERO]] : f32) outs(%y : memref<8x8xf32>)
// CHECK-NEXT:    linalg.generic {{.*}} ins(%x, %w1 : memref<8x8xf32>, memref<8x8xf32, strided<[8, 1], offset: ?>>) outs(%y : memref<8x8xf32>) {
// CHECK:         func.return
// CHECK-NEXT:  }
// CHECK-NEXT:  }
func.func @main(%x: memref<8x8xf32>, %w: memref<3x8x8xf32>, %y: memref<8x8xf32>, %z: memref<8x8xf32>) attributes {xla.entry} {
  %zero = arith.constant 0.0 : f32
  %w0 = memref.subview %w[0, 0, 0] [1, 8, 8] [1, 1, 1] : memref<3x8x8xf32> to memref<8x8xf32>
  %w1 = memref.subview %w[1, 0, 0] [1, 8, 8] [1, 1, 1] : memref<3x8x8xf32> to memref<8x8xf32, strided<[8, 1], offset: 64>>
  %w2 = memref.subview %w[2, 0, 0] [1, 8, 8] [1, 1, 1] : memref<3x8x8xf32> to memref<8x8xf32, strided<[8, 1], offset: 128>>
  linalg.fill ins(%zero : f32) outs(%y : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w0 : memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %r, %s : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w1 : memref<8x8xf32>, memref<8x8xf32, strided<[8, 1], offset: 64>>) outs(%y : memref<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %r, %s : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%z : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %w2 : memref<8x8xf32>, memref<8x8xf32, strided<[8, 1], offset: 128>>) outs(%z : memref<8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %r: f32):
    %s = arith.mulf %u, %v : f32
    %t = arith.addf %r, %s : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// In loops too; scalars are arguments, and so is memory that a body reads. Single elements are not
// worth a call.

// CHECK-LABEL: func.func @gather(
// CHECK:         scf.for %i = %c0 to %n step %c1 {
// CHECK-NEXT:      %s = arith.index_cast %i : index to i32
// CHECK-NEXT:      func.call @gather_addi_kernel_0(%indices, %result, %table, %s) : (memref<4xindex>, memref<4xi32>, memref<9xi32>, i32) -> ()
// CHECK-NEXT:      linalg.generic {{.*}} outs(%counter : memref<i32>) {
// CHECK:         func.func private @gather_addi_kernel_0(%indices: memref<4xindex>, %result: memref<4xi32>, %table: memref<9xi32>, %s: i32) attributes {xla.kernel} {
// CHECK-NEXT:      linalg.generic {{.*}} ins(%indices : memref<4xindex>) outs(%result : memref<4xi32>) {
// CHECK-NEXT:      ^bb0(%k: index, %old: i32):
// CHECK-NEXT:        %e = memref.load %table[%k] : memref<9xi32>
// CHECK-NEXT:        %t = arith.addi %e, %s : i32
func.func @gather(%n: index, %indices: memref<4xindex>, %table: memref<9xi32>, %counter: memref<i32>, %result: memref<4xi32>) attributes {xla.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = arith.index_cast %i : index to i32
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%indices : memref<4xindex>) outs(%result : memref<4xi32>) {
    ^bb0(%k: index, %old: i32):
      %e = memref.load %table[%k] : memref<9xi32>
      %t = arith.addi %e, %s : i32
      linalg.yield %t : i32
    }
    linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%counter : memref<i32>) {
    ^bb0(%k: i32):
      %t = arith.addi %k, %k : i32
      linalg.yield %t : i32
    }
  }
  return
}

// -----

// What might overlap stays where it is; slices that do not, and other parts of an arena, become
// arguments. A memref that is read and written is one argument.

// CHECK-LABEL: func.func @overlap(
// CHECK:         func.call @copy_kernel_0(
// CHECK-NEXT:    "memref.copy"(%left, %middle)
// CHECK-NEXT:    "memref.copy"(%left, %somewhere)
// CHECK:         func.call @copy_kernel_1(%p, %q) : (memref<16xf32>, memref<16xf32>) -> ()
// CHECK:         "memref.copy"(%q, %r)
// CHECK-NEXT:    func.call @negf_kernel_2(%p) : (memref<16xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @overlap(%x: memref<4x8xf32>, %i: index, %arena: memref<256xi8>) attributes {xla.entry} {
  %left = memref.subview %x[0, 0] [4, 4] [1, 1] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1]>>
  %right = memref.subview %x[0, 4] [4, 4] [1, 1] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 4>>
  %middle = memref.subview %x[0, 2] [4, 4] [1, 1] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 2>>
  %somewhere = memref.subview %x[0, %i] [4, 4] [1, 1] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1], offset: ?>>
  "memref.copy"(%left, %right) : (memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32, strided<[8, 1], offset: 4>>) -> ()
  "memref.copy"(%left, %middle) : (memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32, strided<[8, 1], offset: 2>>) -> ()
  "memref.copy"(%left, %somewhere) : (memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32, strided<[8, 1], offset: ?>>) -> ()
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %p = memref.view %arena[%c0][] : memref<256xi8> to memref<16xf32>
  %q = memref.view %arena[%c64][] : memref<256xi8> to memref<16xf32>
  %r = memref.view %arena[%c96][] : memref<256xi8> to memref<16xf32>
  "memref.copy"(%p, %q) : (memref<16xf32>, memref<16xf32>) -> ()
  "memref.copy"(%q, %r) : (memref<16xf32>, memref<16xf32>) -> ()
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : memref<16xf32>) outs(%p : memref<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// An initialization whose memory is read before the reduction is a kernel of its own.

// CHECK-LABEL: func.func @read_between(
// CHECK-NEXT:    func.call @fill_kernel_0(%y)
// CHECK-NEXT:    func.call @copy_kernel_1(%y, %z)
// CHECK-NEXT:    func.call @reduce_addf_kernel_2(%x, %y)
// CHECK-NEXT:    func.return
func.func @read_between(%x: memref<8x8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) attributes {xla.entry} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  "memref.copy"(%y, %z) : (memref<8xf32>, memref<8xf32>) -> ()
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A private function of one operation and views is a kernel; with what overlaps it is not.

// CHECK-LABEL: func.func @main(
// CHECK:       func.func private @first_half(%x: memref<16xf32>, %y: memref<8xf32>) attributes {xla.kernel} {
// CHECK-NEXT:    %h = memref.subview %x[0] [8] [1]
// CHECK-NEXT:    linalg.generic
// CHECK:       func.func private @shifted(%x: memref<16xf32>) {
// CHECK:         linalg.generic
func.func @main(%x: memref<16xf32>, %y: memref<8xf32>) attributes {xla.entry} {
  func.call @first_half(%x, %y) : (memref<16xf32>, memref<8xf32>) -> ()
  func.call @shifted(%x) : (memref<16xf32>) -> ()
  return
}
func.func private @first_half(%x: memref<16xf32>, %y: memref<8xf32>) {
  %h = memref.subview %x[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%h : memref<8xf32, strided<[1]>>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}
func.func private @shifted(%x: memref<16xf32>) {
  %h = memref.subview %x[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %i = memref.subview %x[4] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 4>>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%h : memref<8xf32, strided<[1]>>) outs(%i : memref<8xf32, strided<[1], offset: 4>>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Where constants stand in a body does not matter.

// CHECK-LABEL: func.func @order_of_constants(
// CHECK-NEXT:    func.call @[[KERNEL:addf_mulf_kernel_0]](%x, %y)
// CHECK-NEXT:    func.call @[[KERNEL]](%y, %z)
// CHECK-NEXT:    func.return
func.func @order_of_constants(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) attributes {xla.entry} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %c = arith.mulf %a, %two : f32
    %d = arith.addf %c, %one : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%y : memref<8xf32>) outs(%z : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %two = arith.constant 2.0 : f32
    %c = arith.mulf %a, %two : f32
    %one = arith.constant 1.0 : f32
    %d = arith.addf %c, %one : f32
    linalg.yield %d : f32
  }
  return
}
