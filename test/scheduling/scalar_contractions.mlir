// RUN: xla-opt %s -p 'xla-plan-schedules{vector_bits=0}' | filecheck %s
// RUN: xla-opt %s -p 'xla-plan-schedules{vector_bits=0 register_tiles=false}' | filecheck %s --check-prefix=PLAIN

// Without vectors a contraction works on four rows and four columns at once: eight loads for sixteen products.

// CHECK-LABEL: func.func @matrices
// CHECK: schedule.nest = #schedule.nest<loops = [d0 by 4, d1 by 4, d2]>
// PLAIN-LABEL: func.func @matrices
// PLAIN: schedule.nest = #schedule.nest<loops = [d0, d1, d2]>
func.func @matrices(%a: memref<33x47xf32>, %b: memref<47x29xf32>, %c: memref<33x29xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<33x47xf32>, memref<47x29xf32>) outs(%c : memref<33x29xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  }
  return
}

// CHECK-LABEL: func.func @matrix_and_vector
// CHECK: schedule.nest = #schedule.nest<loops = [d0 by 4, d1]>
func.func @matrix_and_vector(%a: memref<33x47xi32>, %b: memref<47xi32>, %c: memref<33xi32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : memref<33x47xi32>, memref<47xi32>) outs(%c : memref<33xi32>) {
  ^bb0(%x: i32, %y: i32, %sum: i32):
    %product = arith.muli %x, %y : i32
    %next = arith.addi %sum, %product : i32
    linalg.yield %next : i32
  }
  return
}

// Three rows are one tile.
// CHECK-LABEL: func.func @few_rows
// CHECK: schedule.nest = #schedule.nest<loops = [d0, d1 by 3, d2 by 4, d3]>
func.func @few_rows(%a: memref<2x3x47xf64>, %b: memref<2x47x29xf64>, %c: memref<2x3x29xf64>) {
  linalg.generic {
      indexing_maps = [affine_map<(n, i, j, k) -> (n, i, k)>, affine_map<(n, i, j, k) -> (n, k, j)>, affine_map<(n, i, j, k) -> (n, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2x3x47xf64>, memref<2x47x29xf64>) outs(%c : memref<2x3x29xf64>) {
  ^bb0(%x: f64, %y: f64, %sum: f64):
    %product = arith.mulf %x, %y : f64
    %next = arith.addf %sum, %product : f64
    linalg.yield %next : f64
  }
  return
}
