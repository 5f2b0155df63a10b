// RUN: xla-opt %s -p expand-small-floats | filecheck %s
// RUN: xla-opt %s -p expand-small-floats | xla-opt -f mlir - | filecheck %s

// With exponent and mantissa in their places and the exponent rebased; a subnormal number has a
// leading one too many, which is subtracted.
// CHECK-LABEL: func.func @extend
// CHECK:         %[[B:.*]] = arith.bitcast %x : f8E5M2 to i8
// CHECK-NEXT:    %[[CODE:.*]] = arith.extui %[[B]] : i8 to i32
// CHECK-NEXT:    %[[MAGNITUDE:.*]] = arith.andi %[[CODE]], %{{.*}} : i32
// CHECK-NEXT:    arith.shli %[[MAGNITUDE]], %{{.*}} : i32
// CHECK:         arith.subf
// CHECK-NOT:     arith.extf
// CHECK:         %[[R:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK-NEXT:    func.return %[[R]] : f32
func.func @extend(%x: f8E5M2) -> f32 {
  %0 = arith.extf %x : f8E5M2 to f32
  func.return %0 : f32
}

// Vectors alike; integers of 4 bits for floats of 4 bits.
// CHECK-LABEL: func.func @round
// CHECK:         arith.bitcast %x : vector<16xf32> to vector<16xi32>
// CHECK:         %[[CODE:.*]] = arith.trunci %{{.*}} : vector<16xi32> to vector<16xi4>
// CHECK-NEXT:    arith.bitcast %[[CODE]] : vector<16xi4> to vector<16xf4E2M1FN>
func.func @round(%x: vector<16xf32>) -> vector<16xf4E2M1FN> {
  %0 = arith.truncf %x : vector<16xf32> to vector<16xf4E2M1FN>
  func.return %0 : vector<16xf4E2M1FN>
}

// Arithmetic is done in f32 and rounded.
// CHECK-LABEL: func.func @add
// CHECK-COUNT-2: arith.extui %{{.*}} : i8 to i32
// CHECK:         arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:         arith.trunci %{{.*}} : i32 to i8
// CHECK-NEXT:    arith.bitcast %{{.*}} : i8 to f8E4M3FN
func.func @add(%x: f8E4M3FN, %y: f8E4M3FN) -> f8E4M3FN {
  %0 = arith.addf %x, %y : f8E4M3FN
  func.return %0 : f8E4M3FN
}

// A comparison has no result to round.
// CHECK-LABEL: func.func @compare
// CHECK:         %[[R:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NEXT:    func.return %[[R]] : vector<8xi1>
func.func @compare(%x: vector<8xf8E3M4>, %y: vector<8xf8E3M4>) -> vector<8xi1> {
  %0 = arith.cmpf olt, %x, %y : vector<8xf8E3M4>
  func.return %0 : vector<8xi1>
}

// An f64 is rounded to odd before.
// CHECK-LABEL: func.func @double
// CHECK:         %[[NEAREST:.*]] = arith.truncf %x : f64 to f32
// CHECK-NEXT:    arith.extf %[[NEAREST]] : f32 to f64
// CHECK:         arith.trunci %{{.*}} : i32 to i8
func.func @double(%x: f64) -> f8E8M0FNU {
  %0 = arith.truncf %x : f64 to f8E8M0FNU
  func.return %0 : f8E8M0FNU
}

// What only moves codes stays, and so do other floats.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    arith.select
// CHECK-NEXT:    arith.bitcast
// CHECK-NEXT:    arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT:    func.return
func.func @stays(%c: i1, %x: f8E5M2, %h: f16) -> (i8, f32) {
  %0 = arith.constant 1.0 : f8E5M2
  %1 = arith.select %c, %x, %0 : f8E5M2
  %2 = arith.bitcast %1 : f8E5M2 to i8
  %3 = arith.extf %h : f16 to f32
  func.return %2, %3 : i8, f32
}

// Arithmetic of bf16 is done in f32, but a sign changes as it is; conversions stay.
// CHECK-LABEL: func.func @brain
// CHECK:         %[[WIDE:.*]] = arith.extf %h : bf16 to f32
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %{{.*}} : f32
// CHECK-NEXT:    %[[ROUNDED:.*]] = arith.truncf %[[SQUARE]] : f32 to bf16
// CHECK:         arith.xori %{{.*}}, %{{.*}} : i16
// CHECK:         %[[AGAIN:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK-NEXT:    func.return
func.func @brain(%h: bf16) -> (bf16, f32) {
  %0 = arith.mulf %h, %h : bf16
  %1 = arith.negf %0 : bf16
  %2 = arith.extf %0 : bf16 to f32
  func.return %1, %2 : bf16, f32
}

// An f64 becomes an f16 by way of an f32 that is rounded to odd; so does a product and a sum.
// CHECK-LABEL: func.func @half
// CHECK:         arith.cmpf one
// CHECK:         arith.truncf %{{.*}} : f32 to f16
// CHECK:         math.fma %{{.*}}, %{{.*}}, %{{.*}} : f64
// CHECK:         arith.truncf %{{.*}} : f32 to f16
func.func @half(%x: f64) -> f16 {
  %0 = arith.truncf %x : f64 to f16
  %1 = math.fma %0, %0, %0 : f16
  func.return %1 : f16
}
