// RUN: xla-opt %s -p xla-expand-dynamic-dimensions --split-input-file | filecheck %s

// xla-update-checks: CHECK @set_dimension_size filter=clamp|select|func.return
// CHECK-LABEL:   func.func @set_dimension_size(%x: tensor<10xf32>, %n: tensor<i32>) -> (tensor<10xf32>, tensor<i32>, tensor<i32>, tensor<i32>) attributes {xla.run_time_checks = [{operation = "xla.set_dimension_size", message = "(C4) size {} of dimension 0, whose bound is 10", location = loc({{.*}})}]} {
// CHECK:           %part_size = xla.clamp %{{.*}}, %n, %{{.*}} : tensor<i32>
// CHECK:           %[[SELECT:.*]] = xla.select %[[AND:.*]], %{{.*}}, %{{.*}} : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:      %[[SELECT_1:.*]] = xla.select %[[AND]], %n, %{{.*}} : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:      func.return %x, %part_size, %[[SELECT]], %[[SELECT_1]] : tensor<10xf32>, tensor<i32>, tensor<i32>, tensor<i32>
func.func @set_dimension_size(%x: tensor<10xf32>, %n: tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [10]>> {
  %part = xla.set_dimension_size %x, %n {dimension = 0} : (tensor<10xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [10]>>
  func.return %part : tensor<?xf32, #xla.layout<{0}, bounds = [10]>>
}

// -----

// xla-update-checks: CHECK @get_dimension_size
// CHECK-LABEL:   func.func @get_dimension_size(%part: tensor<10xf32>, %part_size: tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:      func.return %part_size : tensor<i32>
// CHECK-NEXT:    }
func.func @get_dimension_size(%part: tensor<?xf32, #xla.layout<{0}, bounds = [10]>>) -> tensor<i32> {
  %size = xla.get_dimension_size %part {dimension = 0} : (tensor<?xf32, #xla.layout<{0}, bounds = [10]>>) -> tensor<i32>
  func.return %size : tensor<i32>
}

// -----

// xla-update-checks: CHECK @get_static_dimension_size
// CHECK-LABEL:   func.func @get_static_dimension_size(%x: tensor<10xf32>) -> tensor<i32> {
// CHECK-NEXT:      %static = xla.constant dense<10> : tensor<i32>
// CHECK-NEXT:      func.return %static : tensor<i32>
// CHECK-NEXT:    }
func.func @get_static_dimension_size(%x: tensor<10xf32>) -> tensor<i32> {
  %static = xla.get_dimension_size %x {dimension = 0} : (tensor<10xf32>) -> tensor<i32>
  func.return %static : tensor<i32>
}

// -----

// xla-update-checks: CHECK @dynamic_reshape filter=gather|clamp|func.return
// CHECK-LABEL:   func.func @dynamic_reshape(%y: tensor<6xf32>, %n: tensor<i32>, %y_size: tensor<i32>) -> (tensor<2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) attributes {xla.run_time_checks = [{operation = "xla.dynamic_reshape", message = "(C4) size {} of dimension 0, declared as <=2", location = loc({{.*}})}, {operation = "xla.dynamic_reshape", message = "(C4) size {} of dimension 1, declared as <=3", location = loc({{.*}})}, {operation = "xla.dynamic_reshape", message = "(C4) {} elements for the sizes, which have another number", location = loc({{.*}})}]} {
// CHECK:           %shaped_size = xla.clamp %{{.*}}, %n, %{{.*}} : tensor<i32>
// CHECK:           %[[CLAMP:.*]] = xla.clamp %{{.*}}, %n, %{{.*}} : tensor<i32>
// CHECK:           %shaped = xla.gather %{{.*}}, %{{.*}} {offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2, slice_sizes = [1]} : (tensor<6xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
// CHECK:           func.return %shaped, %shaped_size, %[[CLAMP]], %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
func.func @dynamic_reshape(%y: tensor<?xf32, #xla.layout<{0}, bounds = [6]>>, %n: tensor<i32>) -> tensor<?x?xf32, #xla.layout<{1,0}, bounds = [2, 3]>> {
  %shaped = xla.dynamic_reshape %y, %n, %n : (tensor<?xf32, #xla.layout<{0}, bounds = [6]>>, tensor<i32>, tensor<i32>) -> tensor<?x?xf32, #xla.layout<{1,0}, bounds = [2, 3]>>
  func.return %shaped : tensor<?x?xf32, #xla.layout<{1,0}, bounds = [2, 3]>>
}

// -----

// Rows that are split as a whole keep their number.
// xla-update-checks: CHECK @reshape
// CHECK-LABEL:   func.func @reshape(%x: tensor<6x4xf32>, %x_size: tensor<i32>) -> (tensor<6x2x2xf32>, tensor<i32>) {
// CHECK-NEXT:      %y = xla.reshape %x : (tensor<6x4xf32>) -> tensor<6x2x2xf32>
// CHECK-NEXT:      func.return %y, %x_size : tensor<6x2x2xf32>, tensor<i32>
// CHECK-NEXT:    }
func.func @reshape(%x: tensor<?x4xf32, #xla.layout<{1,0}, bounds = [6, ?]>>) -> tensor<?x2x2xf32, #xla.layout<{2,1,0}, bounds = [6, ?, ?]>> {
  %y = xla.reshape %x : (tensor<?x4xf32, #xla.layout<{1,0}, bounds = [6, ?]>>) -> tensor<?x2x2xf32, #xla.layout<{2,1,0}, bounds = [6, ?, ?]>>
  func.return %y : tensor<?x2x2xf32, #xla.layout<{2,1,0}, bounds = [6, ?, ?]>>
}
