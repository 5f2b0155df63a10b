// RUN: xla-opt %s -p 'native{to=loops}' | filecheck %s
// RUN: xla-opt %s -p 'native{to=loops}' | xla-opt - | filecheck %s

// Both parts in turn: a cast that targets carry out, and vectors of twice as many lanes; the tail is
// one of shorter vectors.
// CHECK-LABEL: func.func private @{{.*}}kernel
// CHECK:       %[[PARTS:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<37xcomplex<f32>> to memref<74xf32>
// CHECK:       vector.load %[[PARTS]][%{{.*}}] : memref<74xf32>, vector<32xf32>
// CHECK:       vector.shuffle
// CHECK:       vector.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<74xf32>, vector<32xf32>
// CHECK:       vector.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<74xf32>, vector<10xf32>
func.func @product(%x: tensor<37xcomplex<f32>>) -> tensor<37xcomplex<f32>> {
  %0 = xla.multiply %x, %x : tensor<37xcomplex<f32>>
  func.return %0 : tensor<37xcomplex<f32>>
}
