// RUN: xla-opt %s -t llvm | filecheck %s

// CHECK: define { float, float } @swap({ float, float } %[[Z:.*]])
func.func @swap(%z: complex<f32>) -> complex<f32> {
  // CHECK: %[[RE:.*]] = extractvalue { float, float } %[[Z]], 0
  %re = complex.re %z : complex<f32>
  // CHECK-NEXT: %[[IM:.*]] = extractvalue { float, float } %[[Z]], 1
  %im = complex.im %z : complex<f32>
  // CHECK-NEXT: %[[HALF:.*]] = insertvalue { float, float } poison, float %[[IM]], 0
  // CHECK-NEXT: %[[ALL:.*]] = insertvalue { float, float } %[[HALF]], float %[[RE]], 1
  %w = complex.create %im, %re : complex<f32>
  // CHECK-NEXT: ret { float, float } %[[ALL]]
  func.return %w : complex<f32>
}

// CHECK: define { double, double } @constant()
func.func @constant() -> complex<f64> {
  %c = complex.constant [1.0 : f64, -0.0 : f64] : complex<f64>
  // CHECK: ret { double, double } { double 0x3FF0000000000000, double 0x8000000000000000 }
  func.return %c : complex<f64>
}

// LLVM folds no extractvalue of a constant in time: its code generator ended the process over one.
// CHECK: define double @part()
func.func @part() -> f64 {
  %c = complex.constant [1.0 : f64, -0.0 : f64] : complex<f64>
  %im = complex.im %c : complex<f64>
  // CHECK: ret double 0x8000000000000000
  func.return %im : f64
}
