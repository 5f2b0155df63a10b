// RUN: xla-run %s --all-functions --backend reference

// Random numbers: between bounds, so that one of them is known where only one is possible.

// for f32 in bf16 f16 f32 f64
func.func @uniform() -> (tensor<3xf32>, tensor<2x4xi1>) {
  %0 = xla.constant dense<2.5> : tensor<f64>
  %a = xla.convert %0 : (tensor<f64>) -> tensor<f32>
  %same = xla.rng %a, %a {distribution = rng_uniform} : (tensor<f32>, tensor<f32>) -> tensor<3xf32>
  %1 = xla.constant dense<3.0> : tensor<f64>
  %b = xla.convert %1 : (tensor<f64>) -> tensor<f32>
  %many = xla.rng %a, %b {distribution = rng_uniform} : (tensor<f32>, tensor<f32>) -> tensor<2x4xf32>
  %inside = xla.clamp %a, %many, %b : (tensor<f32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %true = xla.compare %inside, %many {direction = EQ} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
  check.expect_eq_const %true, dense<true> : tensor<2x4xi1>
  func.return %same, %true : tensor<3xf32>, tensor<2x4xi1>
}

// for i32 in i8 i16 i32 i64 ui8 ui16 ui32 ui64
func.func @integers() -> tensor<3xi32> {
  %a = xla.constant dense<4> : tensor<i32>
  %b = xla.constant dense<5> : tensor<i32>
  %0 = xla.rng %a, %b {distribution = rng_uniform} : (tensor<i32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<4> : tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

// Without a spread all are the mean.
// for f32 in bf16 f16 f32 f64
func.func @normal() -> (tensor<3xf32>, tensor<0xf32>) {
  %0 = xla.constant dense<-1.5> : tensor<f64>
  %1 = xla.constant dense<0.0> : tensor<f64>
  %mean = xla.convert %0 : (tensor<f64>) -> tensor<f32>
  %none = xla.convert %1 : (tensor<f64>) -> tensor<f32>
  %all = xla.rng %mean, %none {distribution = rng_normal} : (tensor<f32>, tensor<f32>) -> tensor<3xf32>
  %empty = xla.rng %mean, %none {distribution = rng_normal} : (tensor<f32>, tensor<f32>) -> tensor<0xf32>
  func.return %all, %empty : tensor<3xf32>, tensor<0xf32>
}
