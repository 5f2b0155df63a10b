// RUN: xla-opt %s -p expand-math | filecheck %s
// RUN: xla-opt %s -p expand-math | xla-opt -f mlir - | filecheck %s

// Scalars and vectors alike; constants stand at the top, once.
// CHECK-LABEL: func.func @inverse_roots
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT:    %[[ONES:.*]] = arith.constant dense<1.000000e+00> : vector<8xf64>
// CHECK-NEXT:    %[[A:.*]] = math.sqrt %x : f64
// CHECK-NEXT:    %[[B:.*]] = arith.divf %[[ONE]], %[[A]] : f64
// CHECK-NEXT:    %[[C:.*]] = math.sqrt %v : vector<8xf64>
// CHECK-NEXT:    %[[D:.*]] = arith.divf %[[ONES]], %[[C]] : vector<8xf64>
// CHECK-NEXT:    func.return %[[B]], %[[D]]
func.func @inverse_roots(%x: f64, %v: vector<8xf64>) -> (f64, vector<8xf64>) {
  %a = math.rsqrt %x : f64
  %b = math.rsqrt %v : vector<8xf64>
  func.return %a, %b : f64, vector<8xf64>
}

// Narrow types are computed in f32.
// CHECK-LABEL: func.func @narrow
// CHECK:         %[[W:.*]] = arith.extf %x : vector<16xbf16> to vector<16xf32>
// CHECK-NEXT:    arith.bitcast %[[W]] : vector<16xf32> to vector<16xi32>
// CHECK:         arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
func.func @narrow(%x: vector<16xbf16>) -> vector<16xbf16> {
  %0 = math.rsqrt %x : vector<16xbf16>
  func.return %0 : vector<16xbf16>
}

// Wider ones stay, and are refused where they are printed for LLVM.
// CHECK-LABEL: func.func @wide
// CHECK-NEXT:    math.tanh %x : f128
func.func @wide(%x: f128) -> f128 {
  %0 = math.tanh %x : f128
  func.return %0 : f128
}

// What the steps from an estimate do not reach has a branch of its own.
// CHECK-LABEL: func.func @estimated_inverse_root
// CHECK-NOT:     math.sqrt
// CHECK:         %[[OTHER:.*]] = arith.cmpi ult
// CHECK-NEXT:    %[[ANY:.*]] = vector.reduction <or>, %[[OTHER]]
// CHECK-NEXT:    %{{.*}} = scf.if %[[ANY]]
// CHECK:           %[[EXACT:.*]] = arith.divf
// CHECK-NEXT:      %[[RESULT:.*]] = arith.select %[[OTHER]], %[[EXACT]], %[[ROOT:.*]] : vector<16xi1>
// CHECK-NEXT:      scf.yield %[[RESULT]]
// CHECK:           scf.yield %[[ROOT]]
func.func @estimated_inverse_root(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.rsqrt %x : vector<16xf32>
  func.return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func @exponential
// CHECK-NOT:     math.exp
// CHECK:         math.fma
func.func @exponential(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  func.return %0 : vector<16xf32>
}

// Lanes too large for the quick reduction are reduced one by one, by a function.
// CHECK-LABEL: func.func @sine
// CHECK:         %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<16xi1> into i1
// CHECK-NEXT:    scf.if %[[ANY]] -> (vector<16xi32>, vector<16xf32>) {
// CHECK:           scf.for %lane = %c0 to %c16 step %c1
// CHECK:             func.call @xla.reduce_by_half_pi(%{{.*}}) : (f64) -> (f64, i64)
func.func @sine(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.sin %x : vector<16xf32>
  func.return %0 : vector<16xf32>
}

// What processors have stays.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT:    math.absf
// CHECK-NEXT:    math.roundeven
// CHECK-NEXT:    func.return
func.func @stays(%x: f32) -> f32 {
  %0 = math.absf %x : f32
  %1 = math.roundeven %0 : f32
  func.return %1 : f32
}

// CHECK:       "memref.global"() <{sym_name = "xla.two_over_pi"
// CHECK:       func.func private @xla.reduce_by_half_pi(
