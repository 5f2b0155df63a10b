// RUN: not xla-opt %s -p xla-bufferize 2>&1 | filecheck %s

// Everything that cannot be bufferized is named at once.

// CHECK:      xla-bufferize: 8 operations are left unconverted
// CHECK-NEXT:   arith.constant: 1, {{.*}}errors.mlir:23:3 (the elements of the literal were left out when the text was printed; print it with large constants)
// CHECK-NEXT:   arith.select: 1, in.mlir:12:3 (no bufferization is known for it)
// CHECK-NEXT:   func.func: 1, {{.*}}errors.mlir:32:1 (it has several blocks: lift-cf-to-scf structures them)
// CHECK-NEXT:   tensor.cast: 1, {{.*}}errors.mlir:15:3 (tensor<?xf32> has dynamic dimensions)
// CHECK-NEXT:   tensor.dim: 1, {{.*}}errors.mlir:22:3 (the dimension must be a constant, and exist)
// CHECK-NEXT:   tensor.extract_slice: 2, {{.*}}errors.mlir:16:3 (sizes and strides must be static), {{.*}}errors.mlir:26:5 (the body of a linalg operation can only extract elements of tensors)
// CHECK-NEXT:   tensor.pad: 1, {{.*}}errors.mlir:17:3 (padding must not depend on the position)
func.func @main(%a: tensor<4xf32>, %c: i1, %n: index) {
  %b = arith.select %c, %a, %a : tensor<4xf32> loc("in.mlir":12:3)
  %d = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %s = "tensor.extract_slice"(%a, %n) <{static_offsets = array<i64: 0>, static_sizes = array<i64: 4>, static_strides = array<i64: -9223372036854775808>, operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<4xf32>, index) -> tensor<4xf32>
  %p = "tensor.pad"(%a) <{static_low = array<i64: 1>, static_high = array<i64: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%i: index):
    %x = tensor.extract %a[%i] : tensor<4xf32>
    tensor.yield %x : f32
  }) : (tensor<4xf32>) -> tensor<5xf32>
  %dim = tensor.dim %a, %n : tensor<4xf32>
  %resource = arith.constant dense_resource<__elided__> : tensor<4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32):
    %part = tensor.extract_slice %a[0][1][1] : tensor<4xf32> to tensor<1xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}

func.func @blocks() {
  cf.br ^bb1
^bb1:
  return
}
