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
