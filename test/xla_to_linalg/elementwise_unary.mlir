// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @abs
// CHECK-LABEL:   func.func @abs(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2xf32>
// CHECK-NEXT:      %[[GENERIC:.*]] = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%f : tensor<2xf32>) outs(%[[EMPTY]] : tensor<2xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[ABSF:.*]] = math.absf %[[ARG]] : f32
// CHECK-NEXT:        linalg.yield %[[ABSF]] : f32
// CHECK-NEXT:      } -> tensor<2xf32>
// CHECK-NEXT:      func.return %[[GENERIC]] : tensor<2xf32>
// CHECK-NEXT:    }
func.func @abs(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.abs %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @abs_of_complex filter=complex\.|math\.
// CHECK-LABEL:   func.func @abs_of_complex(%c: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
// CHECK:             %{{.*}} = complex.re %[[ARG:.*]] : complex<f32>
// CHECK-NEXT:        %{{.*}} = complex.im %[[ARG]] : complex<f32>
// CHECK:             %[[ABSF:.*]] = math.absf %{{.*}} : f64
// CHECK-NEXT:        %[[ABSF_1:.*]] = math.absf %{{.*}} : f64
// CHECK:             %{{.*}} = math.absf %[[ABSF]] : f64
// CHECK:             %{{.*}} = math.absf %[[ABSF_1]] : f64
// CHECK:             %{{.*}} = math.sqrt %{{.*}} : f64
func.func @abs_of_complex(%c: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %0 = xla.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @acos filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @acos(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        %[[SUBF:.*]] = arith.subf %[[CONSTANT]], %[[ARG]] : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[CONSTANT]], %[[ARG]] : f32
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[SUBF]], %[[ADDF]] : f32
// CHECK-NEXT:        %[[SQRT:.*]] = math.sqrt %[[MULF]] : f32
// CHECK-NEXT:        %{{.*}} = math.atan2 %[[SQRT]], %[[ARG]] : f32
func.func @acos(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.acos %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @acosh filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @acosh(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        %[[SUBF:.*]] = arith.subf %[[ARG]], %[[CONSTANT]] : f32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[SUBF]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[SUBF]], %[[ADDF]] : f32
// CHECK-NEXT:        %[[SQRT:.*]] = math.sqrt %[[MULF]] : f32
// CHECK-NEXT:        %[[ADDF_1:.*]] = arith.addf %[[SUBF]], %[[SQRT]] : f32
// CHECK-NEXT:        %[[LOG1P:.*]] = math.log1p %[[ADDF_1]] : f32
// CHECK-NEXT:        %[[CONSTANT_2:.*]] = arith.constant 0x4D800000 : f32
// CHECK-NEXT:        %[[CMPF:.*]] = arith.cmpf ogt, %[[ARG]], %[[CONSTANT_2]] : f32
// CHECK-NEXT:        %[[LOG:.*]] = math.log %[[ARG]] : f32
// CHECK-NEXT:        %[[CONSTANT_3:.*]] = arith.constant 0.693147182 : f32
// CHECK-NEXT:        %[[ADDF_2:.*]] = arith.addf %[[LOG]], %[[CONSTANT_3]] : f32
// CHECK-NEXT:        %[[SELECT:.*]] = arith.select %[[CMPF]], %[[ADDF_2]], %[[LOG1P]] : f32
// CHECK-NEXT:        %[[CMPF_1:.*]] = arith.cmpf olt, %[[ARG]], %[[CONSTANT]] : f32
// CHECK-NEXT:        %[[CONSTANT_4:.*]] = arith.constant 0x7fc00000 : f32
// CHECK-NEXT:        %{{.*}} = arith.select %[[CMPF_1]], %[[CONSTANT_4]], %[[SELECT]] : f32
func.func @acosh(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.acosh %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @asin filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @asin(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        %[[SUBF:.*]] = arith.subf %[[CONSTANT]], %[[ARG]] : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[CONSTANT]], %[[ARG]] : f32
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[SUBF]], %[[ADDF]] : f32
// CHECK-NEXT:        %[[SQRT:.*]] = math.sqrt %[[MULF]] : f32
// CHECK-NEXT:        %{{.*}} = math.atan2 %[[ARG]], %[[SQRT]] : f32
func.func @asin(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.asin %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @asinh filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @asinh(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[ABSF:.*]] = math.absf %[[ARG]] : f32
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[ABSF]], %[[ABSF]] : f32
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[MULF]], %[[CONSTANT]] : f32
// CHECK-NEXT:        %[[SQRT:.*]] = math.sqrt %[[ADDF]] : f32
// CHECK-NEXT:        %[[ADDF_1:.*]] = arith.addf %[[SQRT]], %[[CONSTANT]] : f32
// CHECK-NEXT:        %[[DIVF:.*]] = arith.divf %[[MULF]], %[[ADDF_1]] : f32
// CHECK-NEXT:        %[[ADDF_2:.*]] = arith.addf %[[ABSF]], %[[DIVF]] : f32
// CHECK-NEXT:        %[[LOG1P:.*]] = math.log1p %[[ADDF_2]] : f32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 0x4D800000 : f32
// CHECK-NEXT:        %[[CMPF:.*]] = arith.cmpf ogt, %[[ABSF]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %[[LOG:.*]] = math.log %[[ABSF]] : f32
// CHECK-NEXT:        %[[CONSTANT_2:.*]] = arith.constant 0.693147182 : f32
// CHECK-NEXT:        %[[ADDF_3:.*]] = arith.addf %[[LOG]], %[[CONSTANT_2]] : f32
// CHECK-NEXT:        %[[SELECT:.*]] = arith.select %[[CMPF]], %[[ADDF_3]], %[[LOG1P]] : f32
// CHECK-NEXT:        %{{.*}} = math.copysign %[[SELECT]], %[[ARG]] : f32
func.func @asinh(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.asinh %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @atanh filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @atanh(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[ABSF:.*]] = math.absf %[[ARG]] : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[ABSF]], %[[ABSF]] : f32
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        %[[SUBF:.*]] = arith.subf %[[CONSTANT]], %[[ABSF]] : f32
// CHECK-NEXT:        %[[DIVF:.*]] = arith.divf %[[ADDF]], %[[SUBF]] : f32
// CHECK-NEXT:        %[[LOG1P:.*]] = math.log1p %[[DIVF]] : f32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[LOG1P]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %{{.*}} = math.copysign %[[MULF]], %[[ARG]] : f32
func.func @atanh(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.atanh %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @cbrt filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @cbrt(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.cbrt %[[ARG]] : f32
func.func @cbrt(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.cbrt %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @ceil filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @ceil(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.ceil %[[ARG]] : f32
func.func @ceil(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.ceil %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @count_leading_zeros filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @count_leading_zeros(%i: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %{{.*}} = math.ctlz %[[ARG]] : i32
func.func @count_leading_zeros(%i: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.count_leading_zeros %i : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @cosine filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @cosine(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.cos %[[ARG]] : f32
func.func @cosine(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.cosine %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @cosh filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @cosh(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[ABSF:.*]] = math.absf %[[ARG]] : f32
// CHECK-NEXT:        %[[EXP:.*]] = math.exp %[[ABSF]] : f32
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        %[[DIVF:.*]] = arith.divf %[[CONSTANT]], %[[EXP]] : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[EXP]], %[[DIVF]] : f32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[ADDF]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %[[CONSTANT_2:.*]] = arith.constant 2.000000e+01 : f32
// CHECK-NEXT:        %[[CMPF:.*]] = arith.cmpf ogt, %[[ABSF]], %[[CONSTANT_2]] : f32
// CHECK-NEXT:        %[[MULF_1:.*]] = arith.mulf %[[ABSF]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %[[EXP_1:.*]] = math.exp %[[MULF_1]] : f32
// CHECK-NEXT:        %[[MULF_2:.*]] = arith.mulf %[[EXP_1]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %[[MULF_3:.*]] = arith.mulf %[[MULF_2]], %[[EXP_1]] : f32
// CHECK-NEXT:        %{{.*}} = arith.select %[[CMPF]], %[[MULF_3]], %[[MULF]] : f32
func.func @cosh(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.cosh %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @erf filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @erf(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.erf %[[ARG]] : f32
func.func @erf(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.erf %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @exponential filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @exponential(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.exp %[[ARG]] : f32
func.func @exponential(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.exponential %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @exponential_minus_one filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @exponential_minus_one(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.expm1 %[[ARG]] : f32
func.func @exponential_minus_one(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.exponential_minus_one %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @floor filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @floor(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.floor %[[ARG]] : f32
func.func @floor(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.floor %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @imag filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @imag(%c: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: complex<f32>, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = complex.im %[[ARG]] : complex<f32>
func.func @imag(%c: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %0 = xla.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @is_finite filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @is_finite(%f: tensor<2xf32>) -> tensor<2xi1> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: i1):
// CHECK-NEXT:        %[[ABSF:.*]] = math.absf %[[ARG]] : f32
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 0x7f800000 : f32
// CHECK-NEXT:        %{{.*}} = arith.cmpf olt, %[[ABSF]], %[[CONSTANT]] : f32
func.func @is_finite(%f: tensor<2xf32>) -> tensor<2xi1> {
  %0 = xla.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  func.return %0 : tensor<2xi1>
}

// -----

// xla-update-checks: CHECK @log filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @log(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.log %[[ARG]] : f32
func.func @log(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.log %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @log_plus_one filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @log_plus_one(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.log1p %[[ARG]] : f32
func.func @log_plus_one(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.log_plus_one %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @logistic filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @logistic(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[ABSF:.*]] = math.absf %[[ARG]] : f32
// CHECK-NEXT:        %[[NEGF:.*]] = arith.negf %[[ABSF]] : f32
// CHECK-NEXT:        %[[EXP:.*]] = math.exp %[[NEGF]] : f32
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        %[[CMPF:.*]] = arith.cmpf oge, %[[ARG]], %[[CONSTANT]] : f32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        %[[SELECT:.*]] = arith.select %[[CMPF]], %[[CONSTANT_1]], %[[EXP]] : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[EXP]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %{{.*}} = arith.divf %[[SELECT]], %[[ADDF]] : f32
func.func @logistic(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.logistic %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @negate filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @negate(%i: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 0 : i32
// CHECK-NEXT:        %{{.*}} = arith.subi %[[CONSTANT]], %[[ARG]] : i32
func.func @negate(%i: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.negate %i : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @not filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @not(%p: tensor<2xi1>) -> tensor<2xi1> {
// CHECK:           ^bb0(%[[ARG:.*]]: i1, %{{.*}}: i1):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant true
// CHECK-NEXT:        %{{.*}} = arith.xori %[[ARG]], %[[CONSTANT]] : i1
func.func @not(%p: tensor<2xi1>) -> tensor<2xi1> {
  %0 = xla.not %p : tensor<2xi1>
  func.return %0 : tensor<2xi1>
}

// -----

// xla-update-checks: CHECK @popcnt filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @popcnt(%i: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %{{.*}} = math.ctpop %[[ARG]] : i32
func.func @popcnt(%i: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.popcnt %i : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @real filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @real(%c: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: complex<f32>, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = complex.re %[[ARG]] : complex<f32>
func.func @real(%c: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %0 = xla.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @round_nearest_afz filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @round_nearest_afz(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.round %[[ARG]] : f32
func.func @round_nearest_afz(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.round_nearest_afz %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @round_nearest_even filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @round_nearest_even(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.roundeven %[[ARG]] : f32
func.func @round_nearest_even(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.round_nearest_even %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @rsqrt filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @rsqrt(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.rsqrt %[[ARG]] : f32
func.func @rsqrt(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.rsqrt %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @sign filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @sign(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        %[[CMPF:.*]] = arith.cmpf one, %[[ARG]], %[[CONSTANT]] : f32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        %[[COPYSIGN:.*]] = math.copysign %[[CONSTANT_1]], %[[ARG]] : f32
// CHECK-NEXT:        %{{.*}} = arith.select %[[CMPF]], %[[COPYSIGN]], %[[ARG]] : f32
func.func @sign(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.sign %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @sine filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @sine(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.sin %[[ARG]] : f32
func.func @sine(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.sine %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @sinh filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @sinh(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[ABSF:.*]] = math.absf %[[ARG]] : f32
// CHECK-NEXT:        %[[EXPM1:.*]] = math.expm1 %[[ABSF]] : f32
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[EXPM1]], %[[CONSTANT]] : f32
// CHECK-NEXT:        %[[DIVF:.*]] = arith.divf %[[EXPM1]], %[[ADDF]] : f32
// CHECK-NEXT:        %[[ADDF_1:.*]] = arith.addf %[[EXPM1]], %[[DIVF]] : f32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[ADDF_1]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %[[CONSTANT_2:.*]] = arith.constant 2.000000e+01 : f32
// CHECK-NEXT:        %[[CMPF:.*]] = arith.cmpf ogt, %[[ABSF]], %[[CONSTANT_2]] : f32
// CHECK-NEXT:        %[[MULF_1:.*]] = arith.mulf %[[ABSF]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %[[EXP:.*]] = math.exp %[[MULF_1]] : f32
// CHECK-NEXT:        %[[MULF_2:.*]] = arith.mulf %[[EXP]], %[[CONSTANT_1]] : f32
// CHECK-NEXT:        %[[MULF_3:.*]] = arith.mulf %[[MULF_2]], %[[EXP]] : f32
// CHECK-NEXT:        %[[SELECT:.*]] = arith.select %[[CMPF]], %[[MULF_3]], %[[MULF]] : f32
// CHECK-NEXT:        %{{.*}} = math.copysign %[[SELECT]], %[[ARG]] : f32
func.func @sinh(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.sinh %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @sqrt filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @sqrt(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.sqrt %[[ARG]] : f32
func.func @sqrt(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.sqrt %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @tan filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @tan(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.tan %[[ARG]] : f32
func.func @tan(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.tan %f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @tanh filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @tanh(%f: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.tanh %[[ARG]] : f32
func.func @tanh(%f: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.tanh %f attributes {xla.metadata = "x"} : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
