// RUN: xla-run %s --all-functions --backend reference
// RUN: xla-run %s --all-functions --backend llvm

// Complex numbers are ordered by their real, then by their imaginary part; truth values as 1 and 0.
// Their cube root is the principal one.

func.func @main() {
  %x = stablehlo.constant dense<[(1.0, 2.0), (1.0, 5.0), (-3.0, 0.0)]> : tensor<3xcomplex<f32>>
  %y = stablehlo.constant dense<[(2.0, -9.0), (1.0, 4.0), (-3.0, 0.0)]> : tensor<3xcomplex<f32>>
  %0 = stablehlo.maximum %x, %y : tensor<3xcomplex<f32>>
  check.expect_eq_const %0, dense<[(2.0, -9.0), (1.0, 5.0), (-3.0, 0.0)]> : tensor<3xcomplex<f32>>
  %1 = stablehlo.minimum %x, %y : tensor<3xcomplex<f32>>
  check.expect_eq_const %1, dense<[(1.0, 2.0), (1.0, 4.0), (-3.0, 0.0)]> : tensor<3xcomplex<f32>>
  %2 = chlo.broadcast_maximum %y, %x : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  check.expect_eq %2, %0 : tensor<3xcomplex<f32>>
  %3 = stablehlo.compare LT, %y, %x : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>
  check.expect_eq_const %3, dense<[false, true, false]> : tensor<3xi1>
  %4 = stablehlo.compare LE, %y, %x, FLOAT : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>
  check.expect_eq_const %4, dense<[false, true, true]> : tensor<3xi1>
  %s = stablehlo.constant dense<(1.0, 4.5)> : tensor<complex<f32>>
  %5 = chlo.broadcast_compare %x, %s {comparison_direction = #chlo<comparison_direction GE>} : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xi1>
  check.expect_eq_const %5, dense<[false, true, false]> : tensor<3xi1>
  %6 = stablehlo.clamp %s, %x, %y : (tensor<complex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  check.expect_eq_const %6, dense<[(1.0, 4.5), (1.0, 4.0), (-3.0, 0.0)]> : tensor<3xcomplex<f32>>
  %a = stablehlo.constant dense<[(-8.0, 0.0), (-8.0, -0.0), (0.0, 27.0), (2.0, -11.0), (0.0, 0.0), (0x7F800000, 1.0), (2.0e38, -2.0e38)]> : tensor<7xcomplex<f32>>
  %root = stablehlo.cbrt %a : tensor<7xcomplex<f32>>
  %roots = stablehlo.constant dense<[(1.0, 1.7320508), (1.0, -1.7320508), (2.598076211, 1.5), (2.0, -1.0), (0.0, 0.0), (0x7F800000, 0.0), (6.340528261e+12, -1.698939427e+12)]> : tensor<7xcomplex<f32>>
  check.expect_close %root, %roots, max_ulp_difference = 1 : tensor<7xcomplex<f32>>, tensor<7xcomplex<f32>>
  %b = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %v, %i = chlo.top_k(%b, k = 3) : tensor<4xi1> -> (tensor<3xi1>, tensor<3xi32>)
  check.expect_eq_const %v, dense<[true, true, false]> : tensor<3xi1>
  check.expect_eq_const %i, dense<[1, 3, 0]> : tensor<3xi32>
  %z = stablehlo.constant dense<[(0.0, 0.0), (0.0, 1.0), (-0.0, 0.0), (2.0, 0.0)]> : tensor<4xcomplex<f32>>
  %c = stablehlo.convert %z : (tensor<4xcomplex<f32>>) -> tensor<4xi1>
  check.expect_eq_const %c, dense<[false, true, false, true]> : tensor<4xi1>
  return
}
