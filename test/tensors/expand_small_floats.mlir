// RUN: xla-opt %s -p expand-small-floats | filecheck %s

// Exponent and mantissa in their places, times a power of two.
// CHECK-LABEL: @extend
// CHECK-NEXT:    %0 = arith.bitcast %x : f8E5M2 to i8
// CHECK-NEXT:    %1 = arith.extui %0 : i8 to i32
// CHECK-NEXT:    %2 = arith.constant 127 : i32
// CHECK-NEXT:    %3 = arith.andi %1, %2 : i32
// CHECK-NEXT:    %4 = arith.constant 21 : i32
// CHECK-NEXT:    %5 = arith.shli %3, %4 : i32
// CHECK:         arith.mulf
// CHECK-NOT:     arith.extf
func.func @extend(%x: f8E5M2) -> f32 {
  %0 = arith.extf %x : f8E5M2 to f32
  func.return %0 : f32
}

// CHECK-LABEL: @round
// CHECK-NEXT:    %0 = arith.bitcast %x : f32 to i32
// CHECK:         %[[CODE:.*]] = arith.trunci %{{.*}} : i32 to i4
// CHECK-NEXT:    arith.bitcast %[[CODE]] : i4 to f4E2M1FN
func.func @round(%x: f32) -> f4E2M1FN {
  %0 = arith.truncf %x : f32 to f4E2M1FN
  func.return %0 : f4E2M1FN
}

// CHECK-LABEL: @others
// CHECK-NEXT:    arith.extf %x : f16 to f32
func.func @others(%x: f16) -> f32 {
  %0 = arith.extf %x : f16 to f32
  func.return %0 : f32
}
