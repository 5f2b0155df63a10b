// RUN: xla-run %s --all-functions --backend reference

// Updates at many places, one after the other; a window that does not lie inside as a whole is left out.

func.func @worked() {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %u = xla.constant dense<[[10, 20, 30], [70, 80, 90]]> : tensor<2x3xi32>
  %put.rows = xla.constant dense<[0, 2]> : tensor<2xi32>
  %put = xla.scatter %x, %put.rows, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    xla.return %b : tensor<i32>
  }
  check.expect_eq_const %put, dense<[[10, 20, 30], [4, 5, 6], [70, 80, 90]]> : tensor<3x3xi32>
  %added.rows = xla.constant dense<[0, 2]> : tensor<2xi32>
  %added = xla.scatter %x, %added.rows, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %added, dense<[[11, 22, 33], [4, 5, 6], [77, 88, 99]]> : tensor<3x3xi32>
  %twice.rows = xla.constant dense<[1, 1]> : tensor<2xi32>
  %twice = xla.scatter %x, %twice.rows, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %twice, dense<[[1, 2, 3], [84, 105, 126], [7, 8, 9]]> : tensor<3x3xi32>
  %outside.rows = xla.constant dense<[2, 5]> : tensor<2xi32>
  %outside = xla.scatter %x, %outside.rows, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %outside, dense<[[1, 2, 3], [4, 5, 6], [17, 28, 39]]> : tensor<3x3xi32>
  %negative.rows = xla.constant dense<[-1, 0]> : tensor<2xi32>
  %negative = xla.scatter %x, %negative.rows, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    xla.return %b : tensor<i32>
  }
  check.expect_eq_const %negative, dense<[[70, 80, 90], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %unsigned.rows = xla.constant dense<[4294967295, 0]> : tensor<2xui32>
  %unsigned = xla.scatter %x, %unsigned.rows, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<2xui32>, tensor<2x3xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    xla.return %b : tensor<i32>
  }
  check.expect_eq_const %unsigned, dense<[[70, 80, 90], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  // In the order of the updates: 70 - (10 - 4), and so on.
  %in_order.rows = xla.constant dense<[1, 1]> : tensor<2xi32>
  %in_order = xla.scatter %x, %in_order.rows, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.subtract %b, %a : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %in_order, dense<[[1, 2, 3], [64, 65, 66], [7, 8, 9]]> : tensor<3x3xi32>
  func.return
}

func.func @worked_windows() {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %u = xla.constant dense<[[[100, 200], [300, 400]]]> : tensor<1x2x2xi32>
  %partly = xla.constant dense<[[2, 1]]> : tensor<1x2xi32>
  %0 = xla.scatter %x, %partly, %u {update_window_dims = [1, 2], inserted_window_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<1x2xi32>, tensor<1x2x2xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    xla.return %b : tensor<i32>
  }
  check.expect_eq_const %0, dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %inside = xla.constant dense<[[1, 1]]> : tensor<1x2xi32>
  %1 = xla.scatter %x, %inside, %u {update_window_dims = [1, 2], inserted_window_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<1x2xi32>, tensor<1x2x2xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    xla.return %b : tensor<i32>
  }
  check.expect_eq_const %1, dense<[[1, 2, 3], [4, 100, 200], [7, 300, 400]]> : tensor<3x3xi32>
  %line = xla.constant dense<0> : tensor<4xi32>
  %starts = xla.constant dense<[[2], [-1], [0]]> : tensor<3x1xi32>
  %runs = xla.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %2 = xla.scatter %line, %starts, %runs {update_window_dims = [1], inserted_window_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<4xi32>, tensor<3x1xi32>, tensor<3x3xi32>) -> tensor<4xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    xla.return %b : tensor<i32>
  }
  check.expect_eq_const %2, dense<[7, 8, 9, 0]> : tensor<4xi32>
  %pairs = xla.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %places = xla.constant dense<[2, 0]> : tensor<2xi32>
  %values = xla.constant dense<[90, 80]> : tensor<2xi32>
  %3 = xla.scatter %pairs, %places, %values {update_window_dims = [], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], index_vector_dim = 1} : (tensor<2x3xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    xla.return %b : tensor<i32>
  }
  check.expect_eq_const %3, dense<[[0, 1, 90], [80, 4, 5]]> : tensor<2x3xi32>
  func.return
}

// The operand is read afterwards as it was.
// for i32 in types
func.func @types() -> (tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %1 = xla.constant dense<[[1, 2, 0, 1, 1], [1, 1, 1, 1, 1], [0, 0, 2, 0, 0], [5, 4, 3, 2, 1]]> : tensor<4x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %updates = xla.convert %1 : (tensor<4x5xi64>) -> tensor<4x5xi32>
  %rows = xla.constant dense<[2, 0, 2, 3]> : tensor<4xi16>
  %sums = xla.scatter %x, %rows, %updates {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x5xi32>, tensor<4xi16>, tensor<4x5xi32>) -> tensor<3x5xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %last = xla.scatter %x, %rows, %updates {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x5xi32>, tensor<4xi16>, tensor<4x5xi32>) -> tensor<3x5xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    xla.return %b : tensor<i32>
  }
  func.return %sums, %last, %x : tensor<3x5xi32>, tensor<3x5xi32>, tensor<3x5xi32>
}

// for i32 in integers
func.func @index_types() -> tensor<5xf32> {
  %x = xla.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf32>
  %0 = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %places = xla.convert %0 : (tensor<3xi64>) -> tensor<3xi32>
  %updates = xla.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %1 = xla.scatter %x, %places, %updates {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<5xf32>, tensor<3xi32>, tensor<3xf32>) -> tensor<5xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %1 : tensor<5xf32>
}

func.func @several_operands() -> (tensor<4xf32>, tensor<4xi32>) {
  %x = xla.constant dense<[1.0, 5.0, -3.0, 2.0]> : tensor<4xf32>
  %i = xla.constant dense<[0, 0, 0, 0]> : tensor<4xi32>
  %places = xla.constant dense<[2, 0, 2, 9]> : tensor<4xi32>
  %u = xla.constant dense<[4.0, 0.5, 3.0, 8.0]> : tensor<4xf32>
  %v = xla.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0, %1 = xla.scatter %x, %i, %places, %u, %v {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) to_apply (%a: tensor<f32>, %m: tensor<i32>, %b: tensor<f32>, %n: tensor<i32>) {
    %more = xla.compare %b, %a {direction = GT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %value = xla.select %more, %b, %a : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %index = xla.select %more, %n, %m : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    xla.return %value, %index : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %0, dense<[1.0, 5.0, 4.0, 2.0]> : tensor<4xf32>
  check.expect_eq_const %1, dense<[0, 0, 1, 0]> : tensor<4xi32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xi32>
}

func.func @mixed_layouts() -> tensor<3x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32, #xla.layout<{0,1}>>
  %rows = xla.constant dense<[2, 0]> : tensor<2xi32>
  %u = xla.constant dense<[[10, 20, 30], [70, 80, 90]]> : tensor<2x3xi32>
  %0 = xla.scatter %x, %rows, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x3xi32, #xla.layout<{0,1}>>, tensor<2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32, #xla.layout<{0,1}>> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %0, dense<[[71, 82, 93], [4, 5, 6], [17, 28, 39]]> : tensor<3x3xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<3x3xi32, #xla.layout<{0,1}>>
}

// At a scalar index, at no place, in nothing.
func.func @sizes() -> (tensor<3xf32>, tensor<3xf32>, tensor<0xf32>) {
  %x = xla.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %one = xla.constant dense<1> : tensor<i32>
  %value = xla.constant dense<-0.0> : tensor<f32>
  %scalar = xla.scatter %x, %one, %value {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0} : (tensor<3xf32>, tensor<i32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %b : tensor<f32>
  }
  %nowhere = xla.constant dense<> : tensor<0xi32>
  %nothing = xla.constant dense<> : tensor<0xf32>
  %same = xla.scatter %x, %nowhere, %nothing {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3xf32>, tensor<0xi32>, tensor<0xf32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %places = xla.constant dense<[0, 1, 2]> : tensor<3xi32>
  %empty = xla.scatter %nothing, %places, %x {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<0xf32>, tensor<3xi32>, tensor<3xf32>) -> tensor<0xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %scalar, %same, %empty : tensor<3xf32>, tensor<3xf32>, tensor<0xf32>
}
