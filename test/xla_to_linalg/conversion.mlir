// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @convert
// CHECK-LABEL:   func.func @convert(%x: tensor<2xf32>) -> tensor<2xf8E4M3FN> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2xf8E4M3FN>
// CHECK-NEXT:      %narrow = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%x : tensor<2xf32>) outs(%[[EMPTY]] : tensor<2xf8E4M3FN>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f8E4M3FN):
// CHECK-NEXT:        %[[TRUNCF:.*]] = arith.truncf %[[ARG]] : f32 to f8E4M3FN
// CHECK-NEXT:        linalg.yield %[[TRUNCF]] : f8E4M3FN
// CHECK-NEXT:      } -> tensor<2xf8E4M3FN>
// CHECK-NEXT:      func.return %narrow : tensor<2xf8E4M3FN>
// CHECK-NEXT:    }
func.func @convert(%x: tensor<2xf32>) -> tensor<2xf8E4M3FN> {
  %narrow = xla.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  func.return %narrow : tensor<2xf8E4M3FN>
}

// -----

// xla-update-checks: CHECK @bitcast_convert_to_narrower
// CHECK-LABEL:   func.func @bitcast_convert_to_narrower(%x: tensor<2xf32>) -> tensor<2x2xi16> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2x2xi16>
// CHECK-NEXT:      %halves = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%x : tensor<2xf32>) outs(%[[EMPTY]] : tensor<2x2xi16>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: i16):
// CHECK-NEXT:        %[[BITCAST:.*]] = arith.bitcast %[[ARG]] : f32 to i32
// CHECK-NEXT:        %[[INDEX:.*]] = linalg.index 1 : index
// CHECK-NEXT:        %[[INDEX_CAST:.*]] = arith.index_cast %[[INDEX]] : index to i32
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 16 : i32
// CHECK-NEXT:        %[[MULI:.*]] = arith.muli %[[INDEX_CAST]], %[[CONSTANT]] : i32
// CHECK-NEXT:        %[[SHRUI:.*]] = arith.shrui %[[BITCAST]], %[[MULI]] : i32
// CHECK-NEXT:        %[[TRUNCI:.*]] = arith.trunci %[[SHRUI]] : i32 to i16
// CHECK-NEXT:        linalg.yield %[[TRUNCI]] : i16
// CHECK-NEXT:      } -> tensor<2x2xi16>
// CHECK-NEXT:      func.return %halves : tensor<2x2xi16>
// CHECK-NEXT:    }
func.func @bitcast_convert_to_narrower(%x: tensor<2xf32>) -> tensor<2x2xui16> {
  %halves = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x2xui16>
  func.return %halves : tensor<2x2xui16>
}

// -----

// xla-update-checks: CHECK @bitcast_convert_to_wider
// CHECK-LABEL:   func.func @bitcast_convert_to_wider(%bytes: tensor<2x4xi8>) -> tensor<2xi32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2xi32>
// CHECK-NEXT:      %words = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, 0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0, 1)>,
// CHECK-SAME:        affine_map<(d0) -> (d0, 2)>,
// CHECK-SAME:        affine_map<(d0) -> (d0, 3)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%bytes, %bytes, %bytes, %bytes : tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>) outs(%[[EMPTY]] : tensor<2xi32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: i8, %[[ARG_1:.*]]: i8, %[[ARG_2:.*]]: i8, %[[ARG_3:.*]]: i8, %{{.*}}: i32):
// CHECK-NEXT:        %[[EXTUI:.*]] = arith.extui %[[ARG]] : i8 to i32
// CHECK-NEXT:        %[[EXTUI_1:.*]] = arith.extui %[[ARG_1]] : i8 to i32
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 8 : i32
// CHECK-NEXT:        %[[SHLI:.*]] = arith.shli %[[EXTUI_1]], %[[CONSTANT]] : i32
// CHECK-NEXT:        %[[ORI:.*]] = arith.ori %[[EXTUI]], %[[SHLI]] : i32
// CHECK-NEXT:        %[[EXTUI_2:.*]] = arith.extui %[[ARG_2]] : i8 to i32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 16 : i32
// CHECK-NEXT:        %[[SHLI_1:.*]] = arith.shli %[[EXTUI_2]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:        %[[ORI_1:.*]] = arith.ori %[[ORI]], %[[SHLI_1]] : i32
// CHECK-NEXT:        %[[EXTUI_3:.*]] = arith.extui %[[ARG_3]] : i8 to i32
// CHECK-NEXT:        %[[CONSTANT_2:.*]] = arith.constant 24 : i32
// CHECK-NEXT:        %[[SHLI_2:.*]] = arith.shli %[[EXTUI_3]], %[[CONSTANT_2]] : i32
// CHECK-NEXT:        %[[ORI_2:.*]] = arith.ori %[[ORI_1]], %[[SHLI_2]] : i32
// CHECK-NEXT:        linalg.yield %[[ORI_2]] : i32
// CHECK-NEXT:      } -> tensor<2xi32>
// CHECK-NEXT:      func.return %words : tensor<2xi32>
// CHECK-NEXT:    }
func.func @bitcast_convert_to_wider(%bytes: tensor<2x4xui8>) -> tensor<2xi32> {
  %words = xla.bitcast_convert %bytes : (tensor<2x4xui8>) -> tensor<2xi32>
  func.return %words : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @bitcast_convert_same_width
// CHECK-LABEL:   func.func @bitcast_convert_same_width(%x: tensor<2xf32>) -> tensor<2xi32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2xi32>
// CHECK-NEXT:      %same = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%x : tensor<2xf32>) outs(%[[EMPTY]] : tensor<2xi32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: i32):
// CHECK-NEXT:        %[[BITCAST:.*]] = arith.bitcast %[[ARG]] : f32 to i32
// CHECK-NEXT:        linalg.yield %[[BITCAST]] : i32
// CHECK-NEXT:      } -> tensor<2xi32>
// CHECK-NEXT:      func.return %same : tensor<2xi32>
// CHECK-NEXT:    }
func.func @bitcast_convert_same_width(%x: tensor<2xf32>) -> tensor<2xi32> {
  %same = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
  func.return %same : tensor<2xi32>
}

// -----

// xla-update-checks: CHECK @reduce_precision filter=linalg.generic|bitcast|andi|select
// CHECK-LABEL:   func.func @reduce_precision(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:           %rounded = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%x : tensor<2xf32>) outs(%{{.*}} : tensor<2xf32>) {
// CHECK:             %[[BITCAST:.*]] = arith.bitcast %[[ARG:.*]] : f32 to i32
// CHECK:             %{{.*}} = arith.andi %[[BITCAST]], %{{.*}} : i32
// CHECK:             %{{.*}} = arith.andi %{{.*}}, %{{.*}} : i32
// CHECK:             %{{.*}} = arith.andi %{{.*}}, %{{.*}} : i32
// CHECK:             %[[SELECT:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK:             %[[SELECT_1:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SELECT]] : i32
// CHECK:             %[[BITCAST_1:.*]] = arith.bitcast %[[SELECT_1]] : i32 to f32
// CHECK-NEXT:        %{{.*}} = arith.select %{{.*}}, %[[ARG]], %[[BITCAST_1]] : f32
func.func @reduce_precision(%x: tensor<2xf32>) -> tensor<2xf32> {
  %rounded = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<2xf32>
  func.return %rounded : tensor<2xf32>
}
