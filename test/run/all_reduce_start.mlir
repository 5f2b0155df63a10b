// RUN: xla-run %s --all-functions --backend reference

// all_reduce in two halves.

func.func private @pair(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = xla.all_reduce_start %x : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %0 = xla.all_reduce_done %s : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func @worked() {
  %a = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %b = xla.constant dense<[3.0, 5.25]> : tensor<2xf32>
  %both:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@pair], [@pair]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %both#0, dense<[4.0, 7.75]> : tensor<2xf32>
  check.expect_eq_const %both#1, dense<[4.0, 7.75]> : tensor<2xf32>
  func.return
}

// for i32 in types
func.func private @typed(%x: tensor<3xi32>) -> tensor<3xi32> {
  %s = xla.all_reduce_start %x : tensor<3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %0 = xla.all_reduce_done %s : tensor<3xi32>
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
