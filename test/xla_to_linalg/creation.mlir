// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @constant
// CHECK-LABEL:   func.func @constant() -> tensor<2xf32> {
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>
// CHECK-NEXT:      func.return %[[CONSTANT]] : tensor<2xf32>
// CHECK-NEXT:    }
func.func @constant() -> tensor<2xf32> {
  %0 = xla.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @constant_scalar
// CHECK-LABEL:   func.func @constant_scalar() -> tensor<f32> {
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT:      func.return %[[CONSTANT]] : tensor<f32>
// CHECK-NEXT:    }
func.func @constant_scalar() -> tensor<f32> {
  %0 = xla.constant dense<0xFF800000> : tensor<f32>
  func.return %0 : tensor<f32>
}

// -----

// xla-update-checks: CHECK @constant_splat
// CHECK-LABEL:   func.func @constant_splat() -> tensor<2xi1> {
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant true
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2xi1>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[CONSTANT]] : i1) outs(%[[EMPTY]] : tensor<2xi1>) -> tensor<2xi1>
// CHECK-NEXT:      func.return %[[FILL]] : tensor<2xi1>
// CHECK-NEXT:    }
func.func @constant_splat() -> tensor<2xi1> {
  %0 = xla.constant dense<true> : tensor<2xi1>
  func.return %0 : tensor<2xi1>
}

// -----

// xla-update-checks: CHECK @constant_empty
// CHECK-LABEL:   func.func @constant_empty() -> tensor<0x3xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<0x3xf32>
// CHECK-NEXT:      func.return %[[EMPTY]] : tensor<0x3xf32>
// CHECK-NEXT:    }
func.func @constant_empty() -> tensor<0x3xf32> {
  %0 = xla.constant dense<> : tensor<0x3xf32>
  func.return %0 : tensor<0x3xf32>
}

// -----

// xla-update-checks: CHECK @iota
// CHECK-LABEL:   func.func @iota() -> tensor<2x3xi8> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2x3xi8>
// CHECK-NEXT:      %[[GENERIC:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        outs(%[[EMPTY]] : tensor<2x3xi8>) {
// CHECK-NEXT:      ^bb0(%{{.*}}: i8):
// CHECK-NEXT:        %[[INDEX:.*]] = linalg.index 1 : index
// CHECK-NEXT:        %[[INDEX_CAST:.*]] = arith.index_cast %[[INDEX]] : index to i8
// CHECK-NEXT:        linalg.yield %[[INDEX_CAST]] : i8
// CHECK-NEXT:      } -> tensor<2x3xi8>
// CHECK-NEXT:      func.return %[[GENERIC]] : tensor<2x3xi8>
// CHECK-NEXT:    }
func.func @iota() -> tensor<2x3xui8> {
  %0 = xla.iota {iota_dimension = 1} : tensor<2x3xui8>
  func.return %0 : tensor<2x3xui8>
}
