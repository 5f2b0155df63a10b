// RUN: xla-opt %s -p xla-expand-communication --split-input-file | filecheck %s

// xla-update-checks: CHECK @rng_uniform filter=custom_call|f64|return
// CHECK-LABEL:   func.func @rng_uniform(%a: tensor<f32>, %b: tensor<f32>) -> tensor<4x2xf32> {
// CHECK:           %{{.*}} = xla.custom_call %a, %b, %{{.*}} {custom_call_target = "xla.rng", custom_call_has_side_effect = true} attributes {site = 0 : i64, distribution = "rng_uniform"} : (tensor<f32>, tensor<f32>, tensor<ui64>) -> tensor<3xui64>
// CHECK:           %[[CONVERT:.*]] = xla.convert %a : (tensor<f32>) -> tensor<f64>
// CHECK-NEXT:      %[[CONVERT_1:.*]] = xla.convert %b : (tensor<f32>) -> tensor<f64>
// CHECK:           %[[CONVERT_2:.*]] = xla.convert %{{.*}} : (tensor<4x2xui64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[CONSTANT:.*]] = xla.constant dense<1.1102230246251565e-16> : tensor<f64>
// CHECK-NEXT:      %[[BROADCAST:.*]] = xla.broadcast %[[CONSTANT]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[MULTIPLY:.*]] = xla.multiply %[[CONVERT_2]], %[[BROADCAST]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[SUBTRACT:.*]] = xla.subtract %[[CONVERT_1]], %[[CONVERT]] : tensor<f64>
// CHECK-NEXT:      %[[BROADCAST_1:.*]] = xla.broadcast %[[SUBTRACT]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[BROADCAST_2:.*]] = xla.broadcast %[[CONVERT]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[MULTIPLY_1:.*]] = xla.multiply %[[BROADCAST_1]], %[[MULTIPLY]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[ADD:.*]] = xla.add %[[BROADCAST_2]], %[[MULTIPLY_1]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[CONVERT_3:.*]] = xla.convert %[[ADD]] : (tensor<4x2xf64>) -> tensor<4x2xf32>
// CHECK-NEXT:      %[[CONVERT_4:.*]] = xla.convert %[[CONVERT_3]] : (tensor<4x2xf32>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[BROADCAST_3:.*]] = xla.broadcast %[[CONVERT_1]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %{{.*}} = xla.compare %[[CONVERT_4]], %[[BROADCAST_3]] {direction = LT} : (tensor<4x2xf64>, tensor<4x2xf64>) -> tensor<4x2xi1>
// CHECK:           func.return %uniform : tensor<4x2xf32>
func.func @rng_uniform(%a: tensor<f32>, %b: tensor<f32>) -> tensor<4x2xf32> {
  %uniform = xla.rng %a, %b {distribution = rng_uniform} : (tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  func.return %uniform : tensor<4x2xf32>
}

// -----

// xla-update-checks: CHECK @rng_normal filter=custom_call|f64|return
// CHECK-LABEL:   func.func @rng_normal(%a: tensor<f32>, %b: tensor<f32>) -> tensor<4x2xf32> {
// CHECK:           %{{.*}} = xla.custom_call %a, %b, %{{.*}} {custom_call_target = "xla.rng", custom_call_has_side_effect = true} attributes {site = 0 : i64, distribution = "rng_normal"} : (tensor<f32>, tensor<f32>, tensor<ui64>) -> tensor<3xui64>
// CHECK:           %[[CONVERT:.*]] = xla.convert %{{.*}} : (tensor<4x2xui64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[CONSTANT:.*]] = xla.constant dense<1.1102230246251565e-16> : tensor<f64>
// CHECK-NEXT:      %[[BROADCAST:.*]] = xla.broadcast %[[CONSTANT]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[MULTIPLY:.*]] = xla.multiply %[[CONVERT]], %[[BROADCAST]] : tensor<4x2xf64>
// CHECK:           %[[CONVERT_1:.*]] = xla.convert %{{.*}} : (tensor<4x2xui64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[CONSTANT_1:.*]] = xla.constant dense<1.1102230246251565e-16> : tensor<f64>
// CHECK-NEXT:      %[[BROADCAST_1:.*]] = xla.broadcast %[[CONSTANT_1]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[MULTIPLY_1:.*]] = xla.multiply %[[CONVERT_1]], %[[BROADCAST_1]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[NEGATE:.*]] = xla.negate %[[MULTIPLY]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[LOG_PLUS_ONE:.*]] = xla.log_plus_one %[[NEGATE]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[CONSTANT_2:.*]] = xla.constant dense<-2.000000e+00> : tensor<f64>
// CHECK-NEXT:      %[[BROADCAST_2:.*]] = xla.broadcast %[[CONSTANT_2]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[MULTIPLY_2:.*]] = xla.multiply %[[LOG_PLUS_ONE]], %[[BROADCAST_2]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[SQRT:.*]] = xla.sqrt %[[MULTIPLY_2]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[CONSTANT_3:.*]] = xla.constant dense<6.2831853071795862> : tensor<f64>
// CHECK-NEXT:      %[[BROADCAST_3:.*]] = xla.broadcast %[[CONSTANT_3]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[MULTIPLY_3:.*]] = xla.multiply %[[MULTIPLY_1]], %[[BROADCAST_3]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[COSINE:.*]] = xla.cosine %[[MULTIPLY_3]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[MULTIPLY_4:.*]] = xla.multiply %[[SQRT]], %[[COSINE]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[CONVERT_2:.*]] = xla.convert %a : (tensor<f32>) -> tensor<f64>
// CHECK-NEXT:      %[[BROADCAST_4:.*]] = xla.broadcast %[[CONVERT_2]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[CONVERT_3:.*]] = xla.convert %b : (tensor<f32>) -> tensor<f64>
// CHECK-NEXT:      %[[BROADCAST_5:.*]] = xla.broadcast %[[CONVERT_3]] : (tensor<f64>) -> tensor<4x2xf64>
// CHECK-NEXT:      %[[MULTIPLY_5:.*]] = xla.multiply %[[BROADCAST_5]], %[[MULTIPLY_4]] : tensor<4x2xf64>
// CHECK-NEXT:      %[[ADD:.*]] = xla.add %[[BROADCAST_4]], %[[MULTIPLY_5]] : tensor<4x2xf64>
// CHECK-NEXT:      %normal = xla.convert %[[ADD]] : (tensor<4x2xf64>) -> tensor<4x2xf32>
// CHECK-NEXT:      func.return %normal : tensor<4x2xf32>
func.func @rng_normal(%a: tensor<f32>, %b: tensor<f32>) -> tensor<4x2xf32> {
  %normal = xla.rng %a, %b {distribution = rng_normal} : (tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  func.return %normal : tensor<4x2xf32>
}

// -----

// xla-update-checks: CHECK @rng_get_and_update_state filter=custom_call|f64|return
// CHECK-LABEL:   func.func @rng_get_and_update_state() -> tensor<2xui64> {
// CHECK-NEXT:      %old = xla.custom_call {custom_call_target = "xla.rng_get_and_update_state", custom_call_has_side_effect = true} attributes {site = 0 : i64, delta = 4 : i64} : tensor<2xui64>
// CHECK-NEXT:      func.return %old : tensor<2xui64>
func.func @rng_get_and_update_state() -> tensor<2xui64> {
  %old = xla.rng_get_and_update_state {delta = 4} : tensor<2xui64>
  func.return %old : tensor<2xui64>
}
