// RUN: xla-opt %s -p xla-expand-compound | filecheck %s

// The first place of the largest element: the largest, then the least of the places that have it.
// xla-update-checks: CHECK @first_of_the_largest filter=xla\.(reduce|compare|or|select|minimum|maximum)|func.return
// CHECK-LABEL:   func.func @first_of_the_largest(%x: tensor<4x20xf32>) -> tensor<4xi32> {
// CHECK:           %best = xla.reduce %x, %least {dimensions = [1]} : (tensor<4x20xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%lhs: tensor<f32>, %rhs: tensor<f32>) {
// CHECK-NEXT:        %{{.*}} = xla.maximum %lhs, %rhs : tensor<f32>
// CHECK:           %[[COMPARE:.*]] = xla.compare %x, %{{.*}} {direction = EQ} : (tensor<4x20xf32>, tensor<4x20xf32>) -> tensor<4x20xi1>
// CHECK-NEXT:      %[[COMPARE_1:.*]] = xla.compare %x, %x {direction = NE} : (tensor<4x20xf32>, tensor<4x20xf32>) -> tensor<4x20xi1>
// CHECK-NEXT:      %[[OR:.*]] = xla.or %[[COMPARE]], %[[COMPARE_1]] : tensor<4x20xi1>
// CHECK:           %[[SELECT:.*]] = xla.select %[[OR]], %places, %{{.*}} : (tensor<4x20xi1>, tensor<4x20xi32>, tensor<4x20xi32>) -> tensor<4x20xi32>
// CHECK-NEXT:      %place = xla.reduce %[[SELECT]], %{{.*}} {dimensions = [1]} : (tensor<4x20xi32>, tensor<i32>) -> tensor<4xi32> to_apply (%[[ARG:.*]]: tensor<i32>, %[[ARG_1:.*]]: tensor<i32>) {
// CHECK-NEXT:        %{{.*}} = xla.minimum %[[ARG]], %[[ARG_1]] : tensor<i32>
// CHECK:           func.return %place : tensor<4xi32>
func.func @first_of_the_largest(%x: tensor<4x20xf32>) -> tensor<4xi32> {
  %places = xla.iota {iota_dimension = 1} : tensor<4x20xi32>
  %least = xla.constant dense<0xFF800000> : tensor<f32>
  %zero = xla.constant dense<0> : tensor<i32>
  %best, %place = xla.reduce %x, %places, %least, %zero {dimensions = [1]} : (tensor<4x20xf32>, tensor<4x20xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>) to_apply (%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>) {
    %0 = xla.compare %a, %b {direction = GT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = xla.compare %a, %a {direction = NE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = xla.or %0, %1 : tensor<i1>
    %3 = xla.compare %a, %b {direction = EQ} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = xla.compare %i, %j {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = xla.and %3, %4 : tensor<i1>
    %6 = xla.or %2, %5 : tensor<i1>
    %7 = xla.select %2, %a, %b : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %8 = xla.select %6, %i, %j : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    xla.return %7, %8 : tensor<f32>, tensor<i32>
  }
  func.return %place : tensor<4xi32>
}
