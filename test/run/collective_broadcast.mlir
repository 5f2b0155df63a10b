// RUN: xla-run %s --all-functions --backend reference

// The array of the first process of a group; zeros for those in no group.

func.func private @group(%x: tensor<1xi32>) -> tensor<1xi32> {
  %0 = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{2,0}}>} : tensor<1xi32>
  func.return %0 : tensor<1xi32>
}

func.func @worked() {
  %x0 = xla.constant dense<[1]> : tensor<1xi32>
  %x1 = xla.constant dense<[2]> : tensor<1xi32>
  %x2 = xla.constant dense<[3]> : tensor<1xi32>
  %r:3 = "interpreter.run_parallel"(%x0, %x1, %x2) {programs = [[@group], [@group], [@group]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %r#0, dense<[3]> : tensor<1xi32>
  check.expect_eq_const %r#1, dense<[0]> : tensor<1xi32>
  check.expect_eq_const %r#2, dense<[3]> : tensor<1xi32>
  func.return
}

// for i32 in types
func.func private @typed(%x: tensor<3xi32>) -> tensor<3xi32> {
  %0 = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{1,0}}>} : tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

// for i32 in types
func.func @types() -> (tensor<3xi32>, tensor<3xi32>) {
  %first = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %second = xla.constant dense<[2, 100, -100]> : tensor<3xi64>
  %x = xla.convert %first : (tensor<3xi64>) -> tensor<3xi32>
  %y = xla.convert %second : (tensor<3xi64>) -> tensor<3xi32>
  %r:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@typed], [@typed]]} : (tensor<3xi32>, tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>)
  func.return %r#0, %r#1 : tensor<3xi32>, tensor<3xi32>
}

func.func private @columns(%x: tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %0 = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{0,1}}>} : tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @column_major() -> (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>) {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %y = xla.constant dense<0> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %r:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@columns], [@columns]]} : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>) -> (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>)
  func.return %r#0, %r#1 : tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>
}

// The last operand says whose arrays they are: the first one is that of member 1, the second that of member 0.

func.func private @told(%x: tensor<1xi32>, %y: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %roots = xla.constant dense<[1, 0]> : tensor<2xi32>
  %0, %1 = xla.collective_broadcast %x, %y, %roots {replica_groups = #xla.replica_groups<{{2,0}}>, has_dynamic_root = true} : (tensor<1xi32>, tensor<1xi32>, tensor<2xi32>) -> (tensor<1xi32>, tensor<1xi32>)
  func.return %0, %1 : tensor<1xi32>, tensor<1xi32>
}

func.func @roots() {
  %x0 = xla.constant dense<[1]> : tensor<1xi32>
  %x1 = xla.constant dense<[2]> : tensor<1xi32>
  %x2 = xla.constant dense<[3]> : tensor<1xi32>
  %r:6 = "interpreter.run_parallel"(%x0, %x0, %x1, %x1, %x2, %x2) {programs = [[@told], [@told], [@told]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %r#0, dense<[1]> : tensor<1xi32>
  check.expect_eq_const %r#1, dense<[3]> : tensor<1xi32>
  check.expect_eq_const %r#2, dense<[0]> : tensor<1xi32>
  check.expect_eq_const %r#3, dense<[0]> : tensor<1xi32>
  check.expect_eq_const %r#4, dense<[1]> : tensor<1xi32>
  check.expect_eq_const %r#5, dense<[3]> : tensor<1xi32>
  func.return
}
