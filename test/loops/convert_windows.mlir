// RUN: xla-opt %s -p 'native{to=loops}' | filecheck %s

// Eight places of a row by two vectors of features are summed up at once; the elements of a row of
// the kernel, with their features, are one loop.
// CHECK-LABEL: func.func private @contraction_kernel
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args
// CHECK:               scf.for %{{.*}} = %c0 to %c96 step %c1 iter_args
// CHECK-COUNT-16:        vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT:             vector.fma
func.func @convolution(%x: tensor<2x8x8x32xf32>, %k: tensor<3x3x32x32xf32>)
    -> tensor<2x8x8x32xf32> {
  %0 = xla.convolution %x, %k {
      window = #xla.window<size=3x3 pad=1_1x1_1>, dim_labels = #xla.dim_labels<b01f_01io->b01f>
    } : (tensor<2x8x8x32xf32>, tensor<3x3x32x32xf32>) -> tensor<2x8x8x32xf32>
  func.return %0 : tensor<2x8x8x32xf32>
}

// Features run in lanes; the running maximum stays in a register.
// CHECK-LABEL: func.func private @reduce_maximumf_kernel
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-NEXT:        %[[R:.*]] = scf.for %{{.*}} = %c0 to %c2 {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<16xf32>)
// CHECK-NEXT:          scf.for %{{.*}} = %c0 to %c2 {{.*}} -> (vector<16xf32>)
// CHECK-NEXT:            vector.load
// CHECK-NEXT:            arith.maximumf {{.*}} : vector<16xf32>
// CHECK:             vector.store %[[R]]
func.func @maximum(%x: tensor<2x8x8x16xf32>) -> tensor<2x4x4x16xf32> {
  %init = xla.constant dense<0xFF800000> : tensor<f32>
  %0 = xla.reduce_window %x, %init {window = #xla.window<size=1x2x2x1 stride=1x2x2x1>}
      : (tensor<2x8x8x16xf32>, tensor<f32>) -> tensor<2x4x4x16xf32>
      to_apply (%a: tensor<f32>, %v: tensor<f32>) {
    %1 = xla.maximum %a, %v : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return %0 : tensor<2x4x4x16xf32>
}
