// RUN: xla-run %s --all-functions --backend reference

// Every process gives a piece to every other one; the pieces that one gets stand in the order of the group.

func.func private @turned(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = xla.all_to_all %x {dimension = 0, replica_groups = #xla.replica_groups<{{1,0}}>} : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}

func.func private @tuple(%x: tensor<1xi32>, %y: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %0:2 = xla.all_to_all %x, %y {replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>)
  func.return %0#0, %0#1 : tensor<1xi32>, tensor<1xi32>
}

func.func private @turned_tuple(%x: tensor<1xi32>, %y: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %0:2 = xla.all_to_all %x, %y {replica_groups = #xla.replica_groups<{{1,0}}>} : (tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>)
  func.return %0#0, %0#1 : tensor<1xi32>, tensor<1xi32>
}

// Each process cuts its columns into four pieces and gets four rows from each process.
func.func private @columns_to_rows(%x: tensor<4x16xf32>) -> tensor<16x4xf32> {
  %split = xla.reshape %x : (tensor<4x16xf32>) -> tensor<4x4x4xf32>
  %pieces = xla.transpose %split {dimensions = [1, 0, 2]} : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  %exchanged = xla.all_to_all %pieces {dimension = 0, replica_groups = #xla.replica_groups<{}>} : tensor<4x4x4xf32>
  %0 = xla.reshape %exchanged : (tensor<4x4x4xf32>) -> tensor<16x4xf32>
  func.return %0 : tensor<16x4xf32>
}

func.func @worked() {
  %a = xla.constant dense<[1, 2]> : tensor<2xi32>
  %b = xla.constant dense<[3, 4]> : tensor<2xi32>
  %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@turned], [@turned]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %r#0, dense<[4, 2]> : tensor<2xi32>
  check.expect_eq_const %r#1, dense<[3, 1]> : tensor<2xi32>
  %p = xla.constant dense<[1]> : tensor<1xi32>
  %q = xla.constant dense<[2]> : tensor<1xi32>
  %s = xla.constant dense<[3]> : tensor<1xi32>
  %t = xla.constant dense<[4]> : tensor<1xi32>
  %tuples:4 = "interpreter.run_parallel"(%p, %q, %s, %t) {programs = [[@tuple], [@tuple]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %tuples#0, dense<[1]> : tensor<1xi32>
  check.expect_eq_const %tuples#1, dense<[3]> : tensor<1xi32>
  check.expect_eq_const %tuples#2, dense<[2]> : tensor<1xi32>
  check.expect_eq_const %tuples#3, dense<[4]> : tensor<1xi32>
  %turned_tuples:4 = "interpreter.run_parallel"(%p, %q, %s, %t) {programs = [[@turned_tuple], [@turned_tuple]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %turned_tuples#0, dense<[4]> : tensor<1xi32>
  check.expect_eq_const %turned_tuples#1, dense<[2]> : tensor<1xi32>
  check.expect_eq_const %turned_tuples#2, dense<[3]> : tensor<1xi32>
  check.expect_eq_const %turned_tuples#3, dense<[1]> : tensor<1xi32>
  func.return
}

// Element [i, j] of process c is 100c + 16i + j.
func.func @worked_split_and_concatenated() {
  %0 = xla.iota {iota_dimension = 0} : tensor<64xf32>
  %x0 = xla.reshape %0 : (tensor<64xf32>) -> tensor<4x16xf32>
  %hundred = xla.constant dense<100.0> : tensor<4x16xf32>
  %x1 = xla.add %x0, %hundred : tensor<4x16xf32>
  %x2 = xla.add %x1, %hundred : tensor<4x16xf32>
  %x3 = xla.add %x2, %hundred : tensor<4x16xf32>
  %r:4 = "interpreter.run_parallel"(%x0, %x1, %x2, %x3) {programs = [[@columns_to_rows], [@columns_to_rows], [@columns_to_rows], [@columns_to_rows]]} : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>)
  %first = xla.slice %r#1 {start_indices = [0, 0], limit_indices = [1, 4], strides = [1, 1]} : (tensor<16x4xf32>) -> tensor<1x4xf32>
  check.expect_eq_const %first, dense<[[4.0, 5.0, 6.0, 7.0]]> : tensor<1x4xf32>
  %sixth = xla.slice %r#1 {start_indices = [5, 0], limit_indices = [6, 4], strides = [1, 1]} : (tensor<16x4xf32>) -> tensor<1x4xf32>
  check.expect_eq_const %sixth, dense<[[120.0, 121.0, 122.0, 123.0]]> : tensor<1x4xf32>
  %last = xla.slice %r#2 {start_indices = [15, 0], limit_indices = [16, 4], strides = [1, 1]} : (tensor<16x4xf32>) -> tensor<1x4xf32>
  check.expect_eq_const %last, dense<[[356.0, 357.0, 358.0, 359.0]]> : tensor<1x4xf32>
  func.return
}

// for i32 in types
func.func private @typed(%x: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %0 = xla.all_to_all %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : tensor<4x2xi32>
  func.return %0 : tensor<4x2xi32>
}

// for i32 in types
func.func @types() -> (tensor<4x2xi32>, tensor<4x2xi32>) {
  %first = xla.constant dense<[[0, 1], [-1, 2], [3, 4], [5, 6]]> : tensor<4x2xi64>
  %second = xla.constant dense<[[2, 100], [-100, 0], [1, 1], [7, 8]]> : tensor<4x2xi64>
  %x = xla.convert %first : (tensor<4x2xi64>) -> tensor<4x2xi32>
  %y = xla.convert %second : (tensor<4x2xi64>) -> tensor<4x2xi32>
  %r:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@typed], [@typed]]} : (tensor<4x2xi32>, tensor<4x2xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>)
  func.return %r#0, %r#1 : tensor<4x2xi32>, tensor<4x2xi32>
}

func.func private @columns(%x: tensor<2x2xi32, #xla.layout<{0,1}>>) -> tensor<2x2xi32, #xla.layout<{0,1}>> {
  %0 = xla.all_to_all %x {dimension = 1, replica_groups = #xla.replica_groups<{{0,1}}>} : tensor<2x2xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x2xi32, #xla.layout<{0,1}>>
}

func.func @column_major() -> tensor<2x2xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32, #xla.layout<{0,1}>>
  %r:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@columns], [@columns]]} : (tensor<2x2xi32, #xla.layout<{0,1}>>, tensor<2x2xi32, #xla.layout<{0,1}>>) -> (tensor<2x2xi32, #xla.layout<{0,1}>>, tensor<2x2xi32, #xla.layout<{0,1}>>)
  check.expect_eq_const %r#0, dense<[[1, 5], [3, 7]]> : tensor<2x2xi32, #xla.layout<{0,1}>>
  func.return %r#1 : tensor<2x2xi32, #xla.layout<{0,1}>>
}
