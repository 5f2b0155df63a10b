// RUN: xla-run %s --all-functions --backend reference

// Every process gets the array of its source, and zeros where it has none.

func.func private @chain(%x: tensor<1xi32>) -> tensor<1xi32> {
  %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,1},{1,2}}>} : tensor<1xi32>
  func.return %0 : tensor<1xi32>
}

func.func private @none(%x: tensor<1xi32>) -> tensor<1xi32> {
  %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{}>} : tensor<1xi32>
  func.return %0 : tensor<1xi32>
}

func.func @worked() {
  %x0 = xla.constant dense<[1]> : tensor<1xi32>
  %x1 = xla.constant dense<[2]> : tensor<1xi32>
  %x2 = xla.constant dense<[3]> : tensor<1xi32>
  %r:3 = "interpreter.run_parallel"(%x0, %x1, %x2) {programs = [[@chain], [@chain], [@chain]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %r#0, dense<[0]> : tensor<1xi32>
  check.expect_eq_const %r#1, dense<[1]> : tensor<1xi32>
  check.expect_eq_const %r#2, dense<[2]> : tensor<1xi32>
  %zeros:2 = "interpreter.run_parallel"(%x0, %x1) {programs = [[@none], [@none]]} : (tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %zeros#1, dense<[0]> : tensor<1xi32>
  check.expect_eq_const %zeros#0, dense<[0]> : tensor<1xi32>
  func.return
}

// for i32 in types
func.func private @typed(%x: tensor<3xi32>) -> tensor<3xi32> {
  %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{1,0}}>} : tensor<3xi32>
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
  %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,1}}>} : tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @column_major() -> (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>) {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %r:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@columns], [@columns]]} : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>) -> (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>)
  func.return %r#0, %r#1 : tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>
}

// In place: process 0 sends two slices to process 1, and gets one, into the last column. Starts are clamped.

func.func private @slices(%x: tensor<2x3xi32>, %y: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %zero = xla.constant dense<0> : tensor<i32>
  %one = xla.constant dense<1> : tensor<i32>
  %nine = xla.constant dense<9> : tensor<i32>
  %0 = xla.collective_permute %x, %y, %zero, %one, %one, %zero, %zero, %nine, %one, %zero {source_target_pairs = #xla.source_target_pairs<{{0,1},{1,0},{0,1}}>, slice_sizes = "{{1,2},{1,1}}"} : (tensor<2x3xi32>, tensor<2x4xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x4xi32>
  func.return %0 : tensor<2x4xi32>
}

func.func @in_place() {
  %x0 = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %x1 = xla.constant dense<[[10, 20, 30], [40, 50, 60]]> : tensor<2x3xi32>
  %y0 = xla.constant dense<[[-1, -2, -3, -4], [-5, -6, -7, -8]]> : tensor<2x4xi32>
  %y1 = xla.constant dense<[[0, 0, 0, 0], [0, 0, 0, 0]]> : tensor<2x4xi32>
  %r:2 = "interpreter.run_parallel"(%x0, %y0, %x1, %y1) {programs = [[@slices], [@slices]]} : (tensor<2x3xi32>, tensor<2x4xi32>, tensor<2x3xi32>, tensor<2x4xi32>) -> (tensor<2x4xi32>, tensor<2x4xi32>)
  check.expect_eq_const %r#0, dense<[[-1, -2, 20, 30], [-5, -6, -7, -8]]> : tensor<2x4xi32>
  check.expect_eq_const %r#1, dense<[[0, 0, 2, 3], [4, 0, 0, 0]]> : tensor<2x4xi32>
  func.return
}
