// RUN: xla-run %s --all-functions --backend reference

// all_gather in two halves, with work between them.

func.func private @pair(%x: tensor<2xf32>) -> tensor<4xf32> {
  %s = xla.all_gather_start %x {dimension = 0, replica_groups = #xla.replica_groups<{{1,0}}>} : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<4xf32>>
  %y = xla.negate %x : tensor<2xf32>
  %1 = xla.all_gather_done %s : (tuple<tensor<2xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %2 = xla.concatenate %y, %y {dimension = 0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %0 = xla.add %1, %2 : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func @worked() {
  %a = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %b = xla.constant dense<[3.0, 5.25]> : tensor<2xf32>
  %both:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@pair], [@pair]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  check.expect_eq_const %both#0, dense<[2.0, 2.75, 0.0, 0.0]> : tensor<4xf32>
  check.expect_eq_const %both#1, dense<[0.0, 0.0, -2.0, -2.75]> : tensor<4xf32>
  func.return
}

// for i32 in types
func.func private @typed(%x: tensor<3xi32>) -> tensor<6xi32> {
  %s = xla.all_gather_start %x {dimension = 0, replica_groups = #xla.replica_groups<{{1,0}}>} : (tensor<3xi32>) -> tuple<tensor<3xi32>, tensor<6xi32>>
  %0 = xla.all_gather_done %s : (tuple<tensor<3xi32>, tensor<6xi32>>) -> tensor<6xi32>
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
