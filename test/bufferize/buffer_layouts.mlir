// RUN: xla-opt %s -p xla-bufferize | filecheck %s

// Strides of parameters and results are those of their memrefs.
// CHECK-LABEL: @strides(%x: memref<2x3xf32, strided<[1, 2]>>, %y: memref<3xf32> {test.kept}, %result: memref<2x3xf32, strided<[5, 1]>>, %result_1: memref<3xf32>)
// CHECK-NEXT:  %[[X:.*]] = memref.reinterpret_cast %x to offset: [0], sizes: [3, 2], strides: [2, 1] : memref<2x3xf32, strided<[1, 2]>> to memref<3x2xf32>
// CHECK-NEXT:  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME:  ins(%[[X]] : memref<3x2xf32>) outs(%result : memref<2x3xf32, strided<[5, 1]>>)
func.func @strides(%x: tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 2]>}, %y: tensor<3xf32> {test.kept})
    -> (tensor<2x3xf32> {bufferization.buffer_layout = strided<[5, 1]>}, tensor<3xf32> {bufferization.buffer_layout = strided<[1]>}) {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  } -> tensor<2x3xf32>
  func.return %0, %y : tensor<2x3xf32>, tensor<3xf32>
}

// A transpose in place: its input is computed in a view of where it has to be.
// CHECK-LABEL: @into_place
// CHECK-NEXT:  %[[V:.*]] = memref.reinterpret_cast %result to offset: [0], sizes: [3, 2], strides: [2, 1] : memref<2x3xf32, strided<[1, 2]>> to memref<3x2xf32>
// CHECK-NEXT:  linalg.exp ins(%x : memref<3x2xf32>) outs(%[[V]] : memref<3x2xf32>)
// CHECK-NEXT:  func.return
func.func @into_place(%x: tensor<3x2xf32>) -> (tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 2]>}) {
  %e = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.exp ins(%x : tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %f = tensor.empty() : tensor<2x3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<3x2xf32>) outs(%f : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// Not where something else still reads the input afterwards.
// CHECK-LABEL: @read_again
// CHECK:       %[[M:.*]] = memref.alloc() : memref<3x2xf32>
// CHECK-NEXT:  linalg.exp ins(%x : memref<3x2xf32>) outs(%[[M]] : memref<3x2xf32>)
// CHECK-NEXT:  %[[R:.*]] = memref.reinterpret_cast %result
// CHECK-NEXT:  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME:  ins(%[[M]] : memref<3x2xf32>) outs(%[[R]] : memref<3x2xf32>)
func.func @read_again(%x: tensor<3x2xf32>) -> (tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 2]>}, tensor<3x2xf32>) {
  %e = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.exp ins(%x : tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %f = tensor.empty() : tensor<2x3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<3x2xf32>) outs(%f : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  %2 = linalg.sqrt ins(%0 : tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %1, %2 : tensor<2x3xf32>, tensor<3x2xf32>
}
