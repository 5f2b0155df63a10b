// RUN: xla-run %s --all-functions --backend reference

// Rows from places to places of other processes; how many and where is data.

func.func private @exchange(%in: tensor<3xi32>, %out: tensor<4xi32>, %io: tensor<2xi32>, %ss: tensor<2xi32>, %oo: tensor<2xi32>, %rs: tensor<2xi32>) -> tensor<4xi32> {
  %0 = xla.ragged_all_to_all %in, %out, %io, %ss, %oo, %rs {replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<3xi32>, tensor<4xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
  func.return %0 : tensor<4xi32>
}

func.func @worked() {
  %in0 = xla.constant dense<[1, 2, 2]> : tensor<3xi32>
  %in1 = xla.constant dense<[3, 4, 0]> : tensor<3xi32>
  %zeros = xla.constant dense<0> : tensor<4xi32>
  %io0 = xla.constant dense<[0, 1]> : tensor<2xi32>
  %ss0 = xla.constant dense<[1, 2]> : tensor<2xi32>
  %oo0 = xla.constant dense<[0, 0]> : tensor<2xi32>
  %rs0 = xla.constant dense<[1, 1]> : tensor<2xi32>
  %ss1 = xla.constant dense<[1, 1]> : tensor<2xi32>
  %oo1 = xla.constant dense<[1, 2]> : tensor<2xi32>
  %rs1 = xla.constant dense<[2, 1]> : tensor<2xi32>
  %r:2 = "interpreter.run_parallel"(%in0, %zeros, %io0, %ss0, %oo0, %rs0, %in1, %zeros, %io0, %ss1, %oo1, %rs1) {programs = [[@exchange], [@exchange]]} : (tensor<3xi32>, tensor<4xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<3xi32>, tensor<4xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %r#0, dense<[1, 3, 0, 0]> : tensor<4xi32>
  check.expect_eq_const %r#1, dense<[2, 2, 4, 0]> : tensor<4xi32>
  func.return
}

// for i64 in types
func.func private @typed(%in: tensor<3x2xi64>, %out: tensor<3x2xi64>, %io: tensor<2xi32>, %ss: tensor<2xi32>, %oo: tensor<2xi32>, %rs: tensor<2xi32>) -> tensor<3x2xi64> {
  %0 = xla.ragged_all_to_all %in, %out, %io, %ss, %oo, %rs {replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<3x2xi64>, tensor<3x2xi64>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xi64>
  func.return %0 : tensor<3x2xi64>
}

// for i64 in types
func.func @types() -> (tensor<3x2xi64>, tensor<3x2xi64>) {
  %first = xla.constant dense<[[0, 1], [2, 3], [4, 5]]> : tensor<3x2xi32>
  %second = xla.constant dense<[[1, 1], [6, 0], [0, 7]]> : tensor<3x2xi32>
  %one = xla.constant dense<1> : tensor<3x2xi32>
  %x = xla.convert %first : (tensor<3x2xi32>) -> tensor<3x2xi64>
  %y = xla.convert %second : (tensor<3x2xi32>) -> tensor<3x2xi64>
  %out = xla.convert %one : (tensor<3x2xi32>) -> tensor<3x2xi64>
  %from = xla.constant dense<[0, 1]> : tensor<2xi32>
  %sizes = xla.constant dense<[1, 1]> : tensor<2xi32>
  %to0 = xla.constant dense<[0, 1]> : tensor<2xi32>
  %to1 = xla.constant dense<[2, 0]> : tensor<2xi32>
  %r:2 = "interpreter.run_parallel"(%x, %out, %from, %sizes, %to0, %sizes, %y, %out, %from, %sizes, %to1, %sizes) {programs = [[@typed], [@typed]]} : (tensor<3x2xi64>, tensor<3x2xi64>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<3x2xi64>, tensor<3x2xi64>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<3x2xi64>, tensor<3x2xi64>)
  func.return %r#0, %r#1 : tensor<3x2xi64>, tensor<3x2xi64>
}
