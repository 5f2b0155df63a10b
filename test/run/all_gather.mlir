// RUN: xla-run %s --all-functions --backend reference

// The arrays of all processes of a group behind one another, in the order of the group.

func.func private @pair(%x: tensor<2xf32>) -> tensor<4xf32> {
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func private @groups(%x: tensor<2xf32>) -> tensor<4xf32> {
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{2,0},{3,1}}>} : (tensor<2xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func private @everyone(%x: tensor<2xf32>) -> tensor<8xf32> {
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{}>} : (tensor<2xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

func.func @worked() {
  %a = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %b = xla.constant dense<[3.0, 5.25]> : tensor<2xf32>
  %both:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@pair], [@pair]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  check.expect_eq_const %both#0, dense<[1.0, 2.5, 3.0, 5.25]> : tensor<4xf32>
  check.expect_eq_const %both#1, dense<[1.0, 2.5, 3.0, 5.25]> : tensor<4xf32>
  func.return
}

func.func @worked_groups() {
  %x0 = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %x1 = xla.constant dense<[11.0, 12.0]> : tensor<2xf32>
  %x2 = xla.constant dense<[21.0, 22.0]> : tensor<2xf32>
  %x3 = xla.constant dense<[31.0, 32.0]> : tensor<2xf32>
  %in_groups:4 = "interpreter.run_parallel"(%x0, %x1, %x2, %x3) {programs = [[@groups], [@groups], [@groups], [@groups]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  check.expect_eq_const %in_groups#0, dense<[21.0, 22.0, 1.0, 2.0]> : tensor<4xf32>
  check.expect_eq_const %in_groups#1, dense<[31.0, 32.0, 11.0, 12.0]> : tensor<4xf32>
  check.expect_eq_const %in_groups#2, dense<[21.0, 22.0, 1.0, 2.0]> : tensor<4xf32>
  check.expect_eq_const %in_groups#3, dense<[31.0, 32.0, 11.0, 12.0]> : tensor<4xf32>
  %all:4 = "interpreter.run_parallel"(%x0, %x1, %x2, %x3) {programs = [[@everyone], [@everyone], [@everyone], [@everyone]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  check.expect_eq_const %all#0, dense<[1.0, 2.0, 11.0, 12.0, 21.0, 22.0, 31.0, 32.0]> : tensor<8xf32>
  check.expect_eq_const %all#1, dense<[1.0, 2.0, 11.0, 12.0, 21.0, 22.0, 31.0, 32.0]> : tensor<8xf32>
  check.expect_eq_const %all#2, dense<[1.0, 2.0, 11.0, 12.0, 21.0, 22.0, 31.0, 32.0]> : tensor<8xf32>
  check.expect_eq_const %all#3, dense<[1.0, 2.0, 11.0, 12.0, 21.0, 22.0, 31.0, 32.0]> : tensor<8xf32>
  func.return
}

// for i32 in types
func.func private @typed(%x: tensor<3xi32>) -> tensor<6xi32> {
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{1,0}}>} : (tensor<3xi32>) -> tensor<6xi32>
  func.return %0 : tensor<6xi32>
}

// for i32 in types
func.func @types() -> (tensor<6xi32>, tensor<6xi32>) {
  %first = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %second = xla.constant dense<[2, 100, -100]> : tensor<3xi64>
  %x = xla.convert %first : (tensor<3xi64>) -> tensor<3xi32>
  %y = xla.convert %second : (tensor<3xi64>) -> tensor<3xi32>
  %r:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@typed], [@typed]]} : (tensor<3xi32>, tensor<3xi32>) -> (tensor<6xi32>, tensor<6xi32>)
  func.return %r#0, %r#1 : tensor<6xi32>, tensor<6xi32>
}

func.func private @columns(%x: tensor<2x1xi32, #xla.layout<{0,1}>>) -> tensor<2x2xi32, #xla.layout<{0,1}>> {
  %0 = xla.all_gather %x {dimension = 1, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2x1xi32, #xla.layout<{0,1}>>) -> tensor<2x2xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x2xi32, #xla.layout<{0,1}>>
}

func.func @column_major() -> tensor<2x2xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1], [2]]> : tensor<2x1xi32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[3], [4]]> : tensor<2x1xi32, #xla.layout<{0,1}>>
  %r:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@columns], [@columns]]} : (tensor<2x1xi32, #xla.layout<{0,1}>>, tensor<2x1xi32, #xla.layout<{0,1}>>) -> (tensor<2x2xi32, #xla.layout<{0,1}>>, tensor<2x2xi32, #xla.layout<{0,1}>>)
  check.expect_eq_const %r#1, dense<[[1, 3], [2, 4]]> : tensor<2x2xi32, #xla.layout<{0,1}>>
  func.return %r#0 : tensor<2x2xi32, #xla.layout<{0,1}>>
}

func.func private @nothing(%x: tensor<2x0xf32>) -> tensor<4x0xf32> {
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2x0xf32>) -> tensor<4x0xf32>
  func.return %0 : tensor<4x0xf32>
}

func.func @sizes() -> tensor<4x0xf32> {
  %x = xla.constant dense<> : tensor<2x0xf32>
  %r:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@nothing], [@nothing]]} : (tensor<2x0xf32>, tensor<2x0xf32>) -> (tensor<4x0xf32>, tensor<4x0xf32>)
  func.return %r#0 : tensor<4x0xf32>
}
