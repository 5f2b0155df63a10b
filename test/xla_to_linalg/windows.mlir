// RUN: xla-opt %s -p convert-xla-to-linalg | filecheck %s
// RUN: xla-opt %s -p convert-xla-to-linalg | xla-opt | filecheck %s

// The base is padded; the window's places are sums in its map. Groups are a loop of their own, and
// a reversed window is met from its other end.
// CHECK-LABEL: @convolution
// CHECK:         %[[X:.*]] = tensor.expand_shape %x {{.*}} : tensor<2x8x8x4xf32> into tensor<2x8x8x2x2xf32>
// CHECK:         %[[K:.*]] = tensor.expand_shape %k {{.*}} : tensor<3x3x2x6xf32> into tensor<3x3x2x2x3xf32>
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x10x9x2x2xf32>)
// CHECK-NEXT:    %[[IMAGE:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 1, 1, 0, 0]
// CHECK:         linalg.generic {indexing_maps = [
// CHECK-SAME:      affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, ((d3 + (d5 * -1)) + 2), ((d4 * 2) + d6), d0, d7)>,
// CHECK-SAME:      affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6, d7, d0, d2)>,
// CHECK-SAME:      affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d3, d4, d0, d2)>],
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
// CHECK-SAME:      ins(%[[IMAGE]], %[[K]] :
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK:         tensor.collapse_shape {{.*}} into tensor<2x8x4x6xf32>
func.func @convolution(%x: tensor<2x8x8x4xf32>, %k: tensor<3x3x2x6xf32>) -> tensor<2x8x4x6xf32> {
  %0 = xla.convolution %x, %k {
      window = #xla.window<size=3x3 stride=1x2 pad=1_1x1_1 rhs_reversal=1x0>,
      dim_labels = #xla.dim_labels<b01f_01io->b01f>, feature_group_count = 2 : i64
    } : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x8x4x6xf32>
  func.return %0 : tensor<2x8x4x6xf32>
}

// What a known computation ignores is the padding.
// CHECK-LABEL: @maximum
// CHECK:         %[[INIT:.*]] = tensor.extract %init[] : tensor<f32>
// CHECK:         arith.constant 0xff800000 : f32
// CHECK:         %[[IMAGE:.*]] = tensor.insert_slice %x into %{{.*}}[1] [8] [1]
// CHECK:         %[[SHAPE:.*]] = tensor.empty() : tensor<3xi1>
// CHECK:         linalg.fill ins(%[[INIT]] : f32)
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ((d0 + d1))>, affine_map<(d0, d1) -> (d1)>,
// CHECK-SAME:      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME:      ins(%[[IMAGE]], %[[SHAPE]] :
// CHECK-NEXT:    ^bb0(%[[VALUE:.*]]: f32, %{{.*}}: i1, %[[MAXIMUM:.*]]: f32):
// CHECK-NEXT:      arith.maximumf %[[MAXIMUM]], %[[VALUE]] : f32
// CHECK-NEXT:      linalg.yield
func.func @maximum(%x: tensor<8xf32>, %init: tensor<f32>) -> tensor<8xf32> {
  %0 = xla.reduce_window %x, %init {window = #xla.window<size=3 pad=1_1>}
      : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32> to_apply (%a: tensor<f32>, %v: tensor<f32>) {
    %1 = xla.maximum %a, %v : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return %0 : tensor<8xf32>
}

// Any other computation is not applied to padding.
// CHECK-LABEL: @any_computation
// CHECK:           %[[PLACE:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[PLACE]], %{{.*}} : index
// CHECK-NEXT:      %[[NEW:.*]] = arith.subf %[[OLD:.*]], %{{.*}} : f32
// CHECK-NEXT:      arith.select %[[INSIDE]], %[[NEW]], %[[OLD]] : f32
func.func @any_computation(%x: tensor<8xf32>, %init: tensor<f32>) -> tensor<8xf32> {
  %0 = xla.reduce_window %x, %init {window = #xla.window<size=3 pad=1_1>}
      : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32> to_apply (%a: tensor<f32>, %v: tensor<f32>) {
    %1 = xla.subtract %a, %v : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return %0 : tensor<8xf32>
}

// A window from the beginning to its place: one addition an element.
// CHECK-LABEL: @running
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[OUT:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (tensor<1x8x1xf32>, f32)
// CHECK:           %[[VALUE:.*]] = tensor.extract %{{.*}}[%{{.*}}, %[[I]], %{{.*}}]
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addf %[[SUM]], %[[VALUE]] : f32
// CHECK-NEXT:      %[[WRITTEN:.*]] = tensor.insert %[[NEXT]] into %[[OUT]]
// CHECK-NEXT:      scf.yield %[[WRITTEN]], %[[NEXT]]
func.func @running(%x: tensor<8xf32>, %init: tensor<f32>) -> tensor<8xf32> {
  %0 = xla.reduce_window %x, %init {window = #xla.window<size=8 pad=7_0>}
      : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32> to_apply (%a: tensor<f32>, %v: tensor<f32>) {
    %1 = xla.add %a, %v : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return %0 : tensor<8xf32>
}

// Each placement notes the number of what it picks; each element asks who picked it.
// CHECK-LABEL: @select_and_scatter
// CHECK:         %{{.*}}, %[[PICKED:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// CHECK:           arith.cmpf oge
// CHECK:           linalg.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>,
// CHECK-SAME:      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%[[PICKED]], %s :
// CHECK:           %[[IS_IT:.*]] = arith.cmpi eq
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[OLD:.*]], %{{.*}} : f32
// CHECK-NEXT:      arith.select %[[IS_IT]], %[[SUM]], %[[OLD]] : f32
// CHECK:         tensor.collapse_shape {{.*}} into tensor<8xf32>
func.func @select_and_scatter(%x: tensor<8xf32>, %s: tensor<4xf32>, %init: tensor<f32>)
    -> tensor<8xf32> {
  %0 = xla.select_and_scatter %x, %s, %init {window = #xla.window<size=2 stride=2>}
      : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
      select (%a: tensor<f32>, %v: tensor<f32>) {
    %1 = xla.compare %a, %v {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%a: tensor<f32>, %v: tensor<f32>) {
    %1 = xla.add %a, %v : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return %0 : tensor<8xf32>
}
