// RUN: xla-run %s --all-functions --backend reference

// A fold over the processes of a group, of which each gets its piece.

func.func private @pair(%x: tensor<4xi32>) -> tensor<2xi32> {
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<4xi32>) -> tensor<2xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %0 : tensor<2xi32>
}

func.func private @turned(%x: tensor<4xi32>) -> tensor<2xi32> {
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{1,0}}>} : (tensor<4xi32>) -> tensor<2xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %0 : tensor<2xi32>
}

func.func private @pair_of_floats(%x: tensor<2xf32>) -> tensor<1xf32> {
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2xf32>) -> tensor<1xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<1xf32>
}

func.func private @turned_floats(%x: tensor<2xf32>) -> tensor<1xf32> {
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{1,0}}>} : (tensor<2xf32>) -> tensor<1xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<1xf32>
}

func.func private @groups(%x: tensor<2xf32>) -> tensor<1xf32> {
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{2,0},{3,1}}>} : (tensor<2xf32>) -> tensor<1xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<1xf32>
}

func.func @worked() {
  %a = xla.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = xla.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %both:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@pair], [@pair]]} : (tensor<4xi32>, tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %both#0, dense<[11, 22]> : tensor<2xi32>
  check.expect_eq_const %both#1, dense<[33, 44]> : tensor<2xi32>
  %turned:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@turned], [@turned]]} : (tensor<4xi32>, tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %turned#0, dense<[33, 44]> : tensor<2xi32>
  check.expect_eq_const %turned#1, dense<[11, 22]> : tensor<2xi32>
  func.return
}

func.func @worked_groups() {
  %a = xla.constant dense<[1.0, 2.25]> : tensor<2xf32>
  %b = xla.constant dense<[3.0, 5.25]> : tensor<2xf32>
  %both:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@pair_of_floats], [@pair_of_floats]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  check.expect_eq_const %both#0, dense<[4.0]> : tensor<1xf32>
  check.expect_eq_const %both#1, dense<[7.5]> : tensor<1xf32>
  %turned:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@turned_floats], [@turned_floats]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  check.expect_eq_const %turned#0, dense<[7.5]> : tensor<1xf32>
  check.expect_eq_const %turned#1, dense<[4.0]> : tensor<1xf32>
  %x0 = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %x1 = xla.constant dense<[11.0, 12.0]> : tensor<2xf32>
  %x2 = xla.constant dense<[21.0, 22.0]> : tensor<2xf32>
  %x3 = xla.constant dense<[31.0, 32.0]> : tensor<2xf32>
  %in_groups:4 = "interpreter.run_parallel"(%x0, %x1, %x2, %x3) {programs = [[@groups], [@groups], [@groups], [@groups]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  check.expect_eq_const %in_groups#0, dense<[24.0]> : tensor<1xf32>
  check.expect_eq_const %in_groups#1, dense<[44.0]> : tensor<1xf32>
  check.expect_eq_const %in_groups#2, dense<[22.0]> : tensor<1xf32>
  check.expect_eq_const %in_groups#3, dense<[42.0]> : tensor<1xf32>
  func.return
}

// for i32 in types
func.func private @typed(%x: tensor<6xi32>) -> tensor<3xi32> {
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{}>} : (tensor<6xi32>) -> tensor<3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %0 : tensor<3xi32>
}

// for i32 in types
func.func @types() -> (tensor<3xi32>, tensor<3xi32>) {
  %first = xla.constant dense<[0, 1, -1, 2, 3, 4]> : tensor<6xi64>
  %second = xla.constant dense<[2, 100, -100, 0, 1, 1]> : tensor<6xi64>
  %x = xla.convert %first : (tensor<6xi64>) -> tensor<6xi32>
  %y = xla.convert %second : (tensor<6xi64>) -> tensor<6xi32>
  %r:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@typed], [@typed]]} : (tensor<6xi32>, tensor<6xi32>) -> (tensor<3xi32>, tensor<3xi32>)
  func.return %r#0, %r#1 : tensor<3xi32>, tensor<3xi32>
}

func.func private @columns(%x: tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<1x3xi32, #xla.layout<{0,1}>> {
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{}>} : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<1x3xi32, #xla.layout<{0,1}>> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %0 : tensor<1x3xi32, #xla.layout<{0,1}>>
}

func.func @column_major() -> tensor<1x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %r:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@columns], [@columns]]} : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>) -> (tensor<1x3xi32, #xla.layout<{0,1}>>, tensor<1x3xi32, #xla.layout<{0,1}>>)
  check.expect_eq_const %r#1, dense<[[8, 10, 12]]> : tensor<1x3xi32, #xla.layout<{0,1}>>
  func.return %r#0 : tensor<1x3xi32, #xla.layout<{0,1}>>
}
