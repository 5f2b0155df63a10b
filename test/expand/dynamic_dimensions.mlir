// RUN: xla-opt %s -p xla-expand-dynamic-dimensions --split-input-file | filecheck %s
// RUN: xla-opt %s -p xla-expand-dynamic-dimensions --split-input-file | xla-opt - --split-input-file | filecheck %s

#vector = #xla.layout<{0}, bounds = [8]>
// What is not there is -0, which changes no sum; the size comes after the parameters.
// CHECK-LABEL: @sum(
// CHECK-SAME:    %x: tensor<8xf32>, %zero: tensor<f32>, %x_size: tensor<i32>) -> tensor<f32>
// CHECK:         %[[I:.*]] = xla.iota
// CHECK:         %[[N:.*]] = xla.broadcast %x_size
// CHECK:         %[[INSIDE:.*]] = xla.compare %[[I]], %[[N]] {direction = LT}
// CHECK:         %[[X:.*]] = xla.select %[[INSIDE]], %x,
// CHECK:         %[[SUM:.*]] = xla.reduce %[[X]], %zero
// CHECK:         func.return %[[SUM]] : tensor<f32>
func.func @sum(%x: tensor<?xf32, #vector>, %zero: tensor<f32>) -> tensor<f32> {
  %0 = xla.reduce %x, %zero {dimensions = [0]} : (tensor<?xf32, #vector>, tensor<f32>) -> tensor<f32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<f32>
}

// -----

#vector = #xla.layout<{0}, bounds = [8]>
// A size that is computed may be wrong: the status comes last, and ends the loop.
// CHECK-LABEL: @halved(
// CHECK-SAME:    -> (tensor<8xf32>, tensor<i32>, tensor<i32>, tensor<i32>)
// CHECK-SAME:    xla.run_time_checks = [{operation = "xla.set_dimension_size"
// CHECK:         %y, %y_size, %[[NUMBER:.*]], %[[VALUE:.*]] = xla.while %x, %x_size, %{{.*}}, %{{.*}} :
// CHECK-SAME:      condition (%{{.*}}: tensor<8xf32>, %[[SIZE:.*]]: tensor<i32>, %[[STATUS:.*]]: tensor<i32>, %{{.*}}: tensor<i32>) {
// CHECK:             %[[MORE:.*]] = xla.compare %[[SIZE]],
// CHECK:             %[[RIGHT:.*]] = xla.compare %[[STATUS]],
// CHECK:             %[[GO:.*]] = xla.and %[[MORE]], %[[RIGHT]]
// CHECK:             xla.return %[[GO]]
// CHECK:           body
// CHECK:             xla.clamp
// CHECK:         func.return %y, %y_size, %[[NUMBER]], %[[VALUE]]
func.func @halved(%x: tensor<?xf32, #vector>) -> tensor<?xf32, #vector> {
  %y = xla.while %x : (tensor<?xf32, #vector>) -> tensor<?xf32, #vector>
      condition (%a: tensor<?xf32, #vector>) {
    %zero = xla.constant dense<0> : tensor<i32>
    %n = xla.get_dimension_size %a {dimension = 0} : (tensor<?xf32, #vector>) -> tensor<i32>
    %c = xla.compare %n, %zero {direction = GT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %c : tensor<i1>
  } body (%a: tensor<?xf32, #vector>) {
    %two = xla.constant dense<2> : tensor<i32>
    %n = xla.get_dimension_size %a {dimension = 0} : (tensor<?xf32, #vector>) -> tensor<i32>
    %m = xla.divide %n, %two : tensor<i32>
    %b = xla.set_dimension_size %a, %m {dimension = 0}
        : (tensor<?xf32, #vector>, tensor<i32>) -> tensor<?xf32, #vector>
    xla.return %b : tensor<?xf32, #vector>
  }
  func.return %y : tensor<?xf32, #vector>
}
