// RUN: xla-run %s --all-functions --split-input-file | filecheck %s
// RUN: xla-run %s --all-functions --split-input-file --backend reference | filecheck %s

// CHECK: chunk 1: PASS
// CHECK-NEXT: chunk 2: PASS
// CHECK-NOT: chunk
func.func @sine_and_cosine() {
  %x = stablehlo.constant dense<[0.0, 0.5, 1.0, -3.0]> : tensor<4xf32>
  %s = stablehlo.sine %x : tensor<4xf32>
  %c = stablehlo.cosine %x : tensor<4xf32>
  %s2 = stablehlo.multiply %s, %s : tensor<4xf32>
  %c2 = stablehlo.multiply %c, %c : tensor<4xf32>
  %sum = stablehlo.add %s2, %c2 : tensor<4xf32>
  check.expect_almost_eq_const %sum, dense<1.0> : tensor<4xf32>, tolerance = 1.0e-6
  return
}

// -----

func.func @largest_and_smallest() {
  %x = stablehlo.constant dense<[3, -1, 7]> : tensor<3xi32>
  %low = stablehlo.constant dense<-2147483648> : tensor<i32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %max, dense<7> : tensor<i32>
  return
}
