// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @opt_barrier
// CHECK-LABEL:   func.func @opt_barrier(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:      func.return %x : tensor<4x8xf32>
// CHECK-NEXT:    }
func.func @opt_barrier(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %same = xla.opt_barrier %x : tensor<4x8xf32>
  func.return %same : tensor<4x8xf32>
}

// -----

// xla-update-checks: CHECK @domain
// CHECK-LABEL:   func.func @domain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:      func.return %x : tensor<4x8xf32>
// CHECK-NEXT:    }
func.func @domain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %there = xla.domain %x {domain = "{kind=\22sharding\22, entry={maximal device=0}, exit={replicated}}"} : tensor<4x8xf32>
  func.return %there : tensor<4x8xf32>
}
