// RUN: xla-opt %s -p 'native{to=loops}' | filecheck %s

// Codes are loaded, computed with and stored as vectors.
// CHECK-LABEL: func.func private @{{.*}}kernel
// CHECK:         scf.for
// CHECK:           vector.load %{{.*}} : memref<256xf8E4M3FN>, vector<[[LANES:[0-9]+]]xf8E4M3FN>
// CHECK:           arith.addf %{{.*}}, %{{.*}} : vector<[[LANES]]xf32>
// CHECK:           arith.trunci %{{.*}} : vector<[[LANES]]xi32> to vector<[[LANES]]xi8>
// CHECK:           vector.store %{{.*}} : memref<256xf8E4M3FN>, vector<[[LANES]]xf8E4M3FN>
// CHECK-NOT:     arith.truncf
func.func @main(%x: tensor<256xf8E4M3FN>, %y: tensor<256xf8E4M3FN>) -> tensor<256xf8E4M3FN> {
  %0 = xla.add %x, %y : tensor<256xf8E4M3FN>
  func.return %0 : tensor<256xf8E4M3FN>
}
