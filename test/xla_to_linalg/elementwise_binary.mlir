// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @add
// CHECK-LABEL:   func.func @add(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2xf32>
// CHECK-NEXT:      %[[GENERIC:.*]] = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%f, %g : tensor<2xf32>, tensor<2xf32>) outs(%[[EMPTY]] : tensor<2xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[ARG]], %[[ARG_1]] : f32
// CHECK-NEXT:        linalg.yield %[[ADDF]] : f32
// CHECK-NEXT:      } -> tensor<2xf32>
// CHECK-NEXT:      func.return %[[GENERIC]] : tensor<2xf32>
// CHECK-NEXT:    }
func.func @add(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.add %f, %g : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @subtract filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @subtract(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = arith.subf %[[ARG]], %[[ARG_1]] : f32
func.func @subtract(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.subtract %f, %g : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @multiply filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @multiply(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = arith.mulf %[[ARG]], %[[ARG_1]] : f32
func.func @multiply(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.multiply %f, %g : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @divide filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @divide(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = arith.divf %[[ARG]], %[[ARG_1]] : f32
func.func @divide(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.divide %f, %g : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @power filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @power(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.powf %[[ARG]], %[[ARG_1]] : f32
func.func @power(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.power %f, %g : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @remainder filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @remainder(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = arith.remf %[[ARG]], %[[ARG_1]] : f32
func.func @remainder(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.remainder %f, %g : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @maximum filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @maximum(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = arith.maximumf %[[ARG]], %[[ARG_1]] : f32
func.func @maximum(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.maximum %f, %g : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @minimum filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @minimum(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = arith.minimumf %[[ARG]], %[[ARG_1]] : f32
func.func @minimum(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.minimum %f, %g : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @and filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @and(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %[[ARG_1:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %{{.*}} = arith.andi %[[ARG]], %[[ARG_1]] : i32
func.func @and(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.and %i, %j : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @or filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @or(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %[[ARG_1:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %{{.*}} = arith.ori %[[ARG]], %[[ARG_1]] : i32
func.func @or(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.or %i, %j : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @xor filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @xor(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %[[ARG_1:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %{{.*}} = arith.xori %[[ARG]], %[[ARG_1]] : i32
func.func @xor(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.xor %i, %j : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @mulhi filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @mulhi(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %[[ARG_1:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %[[EXTSI:.*]] = arith.extsi %[[ARG]] : i32 to i64
// CHECK-NEXT:        %[[EXTSI_1:.*]] = arith.extsi %[[ARG_1]] : i32 to i64
// CHECK-NEXT:        %[[MULI:.*]] = arith.muli %[[EXTSI]], %[[EXTSI_1]] : i64
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 32 : i64
// CHECK-NEXT:        %[[SHRUI:.*]] = arith.shrui %[[MULI]], %[[CONSTANT]] : i64
// CHECK-NEXT:        %{{.*}} = arith.trunci %[[SHRUI]] : i64 to i32
func.func @mulhi(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.mulhi %i, %j : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @shift_left filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @shift_left(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %[[ARG_1:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 0 : i32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 32 : i32
// CHECK-NEXT:        %[[CMPI:.*]] = arith.cmpi ult, %[[ARG_1]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:        %[[SELECT:.*]] = arith.select %[[CMPI]], %[[ARG_1]], %[[CONSTANT]] : i32
// CHECK-NEXT:        %[[SHLI:.*]] = arith.shli %[[ARG]], %[[SELECT]] : i32
// CHECK-NEXT:        %{{.*}} = arith.select %[[CMPI]], %[[SHLI]], %[[CONSTANT]] : i32
func.func @shift_left(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.shift_left %i, %j : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @shift_right_arithmetic filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @shift_right_arithmetic(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %[[ARG_1:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 31 : i32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 32 : i32
// CHECK-NEXT:        %[[CMPI:.*]] = arith.cmpi ult, %[[ARG_1]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:        %[[SELECT:.*]] = arith.select %[[CMPI]], %[[ARG_1]], %[[CONSTANT]] : i32
// CHECK-NEXT:        %{{.*}} = arith.shrsi %[[ARG]], %[[SELECT]] : i32
func.func @shift_right_arithmetic(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.shift_right_arithmetic %i, %j : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @shift_right_logical filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @shift_right_logical(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
// CHECK:           ^bb0(%[[ARG:.*]]: i32, %[[ARG_1:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 0 : i32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 32 : i32
// CHECK-NEXT:        %[[CMPI:.*]] = arith.cmpi ult, %[[ARG_1]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:        %[[SELECT:.*]] = arith.select %[[CMPI]], %[[ARG_1]], %[[CONSTANT]] : i32
// CHECK-NEXT:        %[[SHRUI:.*]] = arith.shrui %[[ARG]], %[[SELECT]] : i32
// CHECK-NEXT:        %{{.*}} = arith.select %[[CMPI]], %[[SHRUI]], %[[CONSTANT]] : i32
func.func @shift_right_logical(%i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.shift_right_logical %i, %j : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @atan2 filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @atan2(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %{{.*}} = math.atan2 %[[ARG]], %[[ARG_1]] : f32
func.func @atan2(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.atan2 %f, %g : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @complex filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @complex(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xcomplex<f32>> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: complex<f32>):
// CHECK-NEXT:        %{{.*}} = complex.create %[[ARG]], %[[ARG_1]] : complex<f32>
func.func @complex(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xcomplex<f32>> {
  %0 = xla.complex %f, %g : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  func.return %0 : tensor<2xcomplex<f32>>
}

// -----

// xla-update-checks: CHECK @compare filter=\^bb|(arith|math|complex)\.
// CHECK-LABEL:   func.func @compare(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xi1> {
// CHECK:           ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %{{.*}}: i1):
// CHECK-NEXT:        %{{.*}} = arith.cmpf olt, %[[ARG]], %[[ARG_1]] : f32
func.func @compare(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xi1> {
  %0 = xla.compare %f, %g {direction = LT} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  func.return %0 : tensor<2xi1>
}

// -----

// xla-update-checks: CHECK @compare_total_order filter=arith\.
// CHECK-LABEL:   func.func @compare_total_order(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xi1> {
// CHECK:             %[[BITCAST:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 31 : i32
// CHECK-NEXT:        %[[SHRSI:.*]] = arith.shrsi %[[BITCAST]], %[[CONSTANT]] : i32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 1 : i32
// CHECK-NEXT:        %[[SHRUI:.*]] = arith.shrui %[[SHRSI]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:        %[[XORI:.*]] = arith.xori %[[BITCAST]], %[[SHRUI]] : i32
// CHECK-NEXT:        %[[BITCAST_1:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK-NEXT:        %[[SHRSI_1:.*]] = arith.shrsi %[[BITCAST_1]], %[[CONSTANT]] : i32
// CHECK-NEXT:        %[[SHRUI_1:.*]] = arith.shrui %[[SHRSI_1]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:        %[[XORI_1:.*]] = arith.xori %[[BITCAST_1]], %[[SHRUI_1]] : i32
// CHECK-NEXT:        %{{.*}} = arith.cmpi eq, %[[XORI]], %[[XORI_1]] : i32
func.func @compare_total_order(%f: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xi1> {
  %0 = xla.compare %f, %g {direction = EQ, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  func.return %0 : tensor<2xi1>
}
