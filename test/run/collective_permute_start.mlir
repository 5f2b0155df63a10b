// RUN: xla-run %s --all-functions --backend reference

// collective_permute in two halves.

func.func private @pair(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = xla.collective_permute_start %x {source_target_pairs = #xla.source_target_pairs<{{0,1}}>} : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %0 = xla.collective_permute_done %s : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func @worked() {
  %a = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %b = xla.constant dense<[3.0, 5.25]> : tensor<2xf32>
  %both:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@pair], [@pair]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %both#0, dense<[0.0, 0.0]> : tensor<2xf32>
  check.expect_eq_const %both#1, dense<[1.0, 2.5]> : tensor<2xf32>
  func.return
}

// for i32 in types
func.func private @typed(%x: tensor<3xi32>) -> tensor<3xi32> {
  %s = xla.collective_permute_start %x {source_target_pairs = #xla.source_target_pairs<{{0,1}}>} : (tensor<3xi32>) -> tuple<tensor<3xi32>, tensor<3xi32>>
  %0 = xla.collective_permute_done %s : (tuple<tensor<3xi32>, tensor<3xi32>>) -> tensor<3xi32>
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
