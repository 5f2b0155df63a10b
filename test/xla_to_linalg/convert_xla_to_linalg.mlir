// RUN: xla-opt %s -p convert-xla-to-linalg | filecheck %s
// RUN: xla-opt %s -p convert-xla-to-linalg | xla-opt | filecheck %s

// Types become signless, the operation says how to read them; layouts are dropped.
// CHECK-LABEL: func.func @unsigned(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
// CHECK-NEXT:    %0 = tensor.empty() : tensor<4xi8>
// CHECK-NEXT:    %1 = linalg.generic
// CHECK-SAME:      ins(%x, %y : tensor<4xi8>, tensor<4xi8>) outs(%0 : tensor<4xi8>) {
// CHECK-NEXT:    ^bb0(%2: i8, %3: i8, %4: i8):
// CHECK-NEXT:      %5 = arith.maxui %2, %3 : i8
// CHECK-NEXT:      linalg.yield %5 : i8
// CHECK-NEXT:    } -> tensor<4xi8>
func.func @unsigned(%x: tensor<4xui8, #xla.layout<{0}>>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %0 = xla.maximum %x, %y : (tensor<4xui8, #xla.layout<{0}>>, tensor<4xui8>) -> tensor<4xui8>
  func.return %0 : tensor<4xui8>
}

// Narrow floats are computed in f32 and rounded after every operation.
// CHECK-LABEL: @rounding
// CHECK:         arith.extf {{.*}} : bf16 to f32
// CHECK-NEXT:    arith.extf {{.*}} : bf16 to f32
// CHECK-NEXT:    arith.addf {{.*}} : f32
// CHECK-NEXT:    arith.truncf {{.*}} : f32 to bf16
func.func @rounding(%x: tensor<bf16>, %y: tensor<bf16>) -> tensor<bf16> {
  %0 = xla.add %x, %y : tensor<bf16>
  func.return %0 : tensor<bf16>
}

// A division by zero, or of the least integer by -1, never happens.
// CHECK-LABEL: @divide
// CHECK:         %[[ZERO:.*]] = arith.cmpi eq, %[[Y:.*]], %{{.*}} : i32
// CHECK:         %[[UNDEFINED:.*]] = arith.ori %[[ZERO]], %{{.*}} : i1
// CHECK:         %[[SAFE:.*]] = arith.select %[[UNDEFINED]], %{{.*}}, %[[Y]] : i32
// CHECK-NEXT:    %[[Q:.*]] = arith.divsi %{{.*}}, %[[SAFE]] : i32
// CHECK:         arith.select %[[ZERO]], %{{.*}}, %[[Q]] : i32
func.func @divide(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = xla.divide %x, %y : tensor<i32>
  func.return %0 : tensor<i32>
}

// CHECK-LABEL: @reduce
// CHECK-NEXT:    %0 = tensor.extract %init[] : tensor<f32>
// CHECK-NEXT:    %1 = tensor.empty() : tensor<3xf32>
// CHECK-NEXT:    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>,
// CHECK-SAME:      affine_map<(d0, d1, d2) -> (d0)>],
// CHECK-SAME:      iterator_types = ["parallel", "reduction", "reduction"]}
// CHECK-NEXT:    ^bb0(%4: f32, %5: f32):
// CHECK-NEXT:      %6 = arith.addf %5, %4 : f32
// CHECK-NEXT:      linalg.yield %6 : f32
func.func @reduce(%x: tensor<2x3x4xf32>, %init: tensor<f32>) -> tensor<3xf32> {
  %0 = xla.reduce %x, %init {dimensions = [0, 2]}
      : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %v: tensor<f32>) {
    %1 = xla.add %a, %v : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return %0 : tensor<3xf32>
}

// Sums in f32, rounded once at the end.
// CHECK-LABEL: @dot
// CHECK:         %2 = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<5x2x4xf32>)
// CHECK-NEXT:    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>,
// CHECK-SAME:      affine_map<(d0, d1, d2, d3) -> (d3, d0, d2)>,
// CHECK-SAME:      affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>],
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK:         -> tensor<5x2x4xf32>
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:         -> tensor<5x2x4xbf16>
func.func @dot(%x: tensor<5x2x3xbf16>, %y: tensor<3x5x4xbf16>) -> tensor<5x2x4xbf16> {
  %0 = xla.dot %x, %y {lhs_batch_dims = [0], lhs_contracting_dims = [2], rhs_batch_dims = [1], rhs_contracting_dims = [0]}
      : (tensor<5x2x3xbf16>, tensor<3x5x4xbf16>) -> tensor<5x2x4xbf16>
  func.return %0 : tensor<5x2x4xbf16>
}

// Rows of a table: the start is clamped once for a row, which is read as it lies.
// CHECK-LABEL: @rows
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME:      ins(%i : tensor<3xi32>)
// CHECK:           arith.maxsi
// CHECK-NEXT:      %[[START:.*]] = arith.minsi
// CHECK-NEXT:      %[[ROW:.*]] = arith.index_cast %[[START]] : i32 to index
// CHECK-NEXT:      %[[COLUMN:.*]] = linalg.index 1 : index
// CHECK-NEXT:      tensor.extract %x[%[[ROW]], %[[COLUMN]]] : tensor<9x5xf32>
func.func @rows(%x: tensor<9x5xf32>, %i: tensor<3xi32>) -> tensor<3x5xf32> {
  %0 = xla.gather %x, %i {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 5]}
      : (tensor<9x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  func.return %0 : tensor<3x5xf32>
}

// Index vectors that are put together from columns are read column by column.
// CHECK-LABEL: @columns
// CHECK-DAG:     %[[I:.*]] = tensor.collapse_shape %i
// CHECK-DAG:     %[[J:.*]] = tensor.collapse_shape %j
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[I]], %[[J]] : tensor<3xi32>, tensor<3xi32>)
func.func @columns(%x: tensor<9x5xf32>, %i: tensor<3x1xi32>, %j: tensor<3x1xi32>) -> tensor<3xf32> {
  %0 = xla.concatenate %i, %j {dimension = 1} : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  %1 = xla.gather %x, %0 {offset_dims = [], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1, slice_sizes = [1, 1]}
      : (tensor<9x5xf32>, tensor<3x2xi32>) -> tensor<3xf32>
  func.return %1 : tensor<3xf32>
}

// CHECK-LABEL: @update
// CHECK-NEXT:    %0 = tensor.extract %i[] : tensor<i8>
// CHECK-NEXT:    %1 = arith.constant 3 : i8
// CHECK-NEXT:    %2 = arith.minui %0, %1 : i8
// CHECK-NEXT:    %3 = arith.index_castui %2 : i8 to index
// CHECK-NEXT:    %4 = tensor.insert_slice %u into %x[%3, 0] [2, 4] [1, 1]
func.func @update(%x: tensor<5x4xf32>, %u: tensor<2x4xf32>, %i: tensor<ui8>) -> tensor<5x4xf32> {
  %0 = xla.dynamic_update_slice %x, %u, %i, %i
      : (tensor<5x4xf32>, tensor<2x4xf32>, tensor<ui8>, tensor<ui8>) -> tensor<5x4xf32>
  func.return %0 : tensor<5x4xf32>
}

// CHECK-LABEL: @pad
// CHECK:         %[[PART:.*]] = tensor.extract_slice %x[1] [3] [1] : tensor<4xf32> to tensor<3xf32>
// CHECK:         %[[FULL:.*]] = linalg.fill
// CHECK-NEXT:    tensor.insert_slice %[[PART]] into %[[FULL]][1] [3] [2] : tensor<3xf32> into tensor<8xf32>
func.func @pad(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<8xf32> {
  %0 = xla.pad %x, %v {edge_padding_low = [-1], edge_padding_high = [2], interior_padding = [1]}
      : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// Dimensions are divided first, then merged.
// CHECK-LABEL: @reshape
// CHECK-NEXT:    %0 = tensor.expand_shape %x {{\[\[}}0 : i64], [1 : i64], [2 : i64, 3 : i64]] output_shape [2, 3, 2, 2]
// CHECK-NEXT:    %1 = tensor.collapse_shape %0 {{\[\[}}0 : i64], [1 : i64, 2 : i64], [3 : i64]] : tensor<2x3x2x2xf32> into tensor<2x6x2xf32>
func.func @reshape(%x: tensor<2x3x4xf32>) -> tensor<2x6x2xf32> {
  %0 = xla.reshape %x : (tensor<2x3x4xf32>) -> tensor<2x6x2xf32>
  func.return %0 : tensor<2x6x2xf32>
}

// Nothing is computed for no elements.
// CHECK-LABEL: @nothing
// CHECK-NEXT:    %0 = tensor.empty() : tensor<0x7xf32>
// CHECK-NEXT:    func.return %0 : tensor<0x7xf32>
func.func @nothing(%x: tensor<2x0x3xf32>) -> tensor<0x7xf32> {
  %0 = xla.reshape %x : (tensor<2x0x3xf32>) -> tensor<0x7xf32>
  func.return %0 : tensor<0x7xf32>
}

// CHECK-LABEL: @call
// CHECK:         func.call @reshape(%x) : (tensor<2x3x4xf32>) -> tensor<2x6x2xf32>
func.func @call(%x: tensor<2x3x4xf32>) -> tensor<2x6x2xf32> {
  %0 = xla.call %x {to_apply = @reshape} : (tensor<2x3x4xf32>) -> tensor<2x6x2xf32>
  func.return %0 : tensor<2x6x2xf32>
}

// Elementwise operations of one size that only serve each other are one generic; what others need,
// too, is one of its own, and so is what has another size.
// CHECK-LABEL: @cluster
// CHECK:         %[[NEEDED:.*]] = linalg.generic
// CHECK:           arith.addf
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[NEEDED]], %y, %s : tensor<4xf32>, tensor<4xf32>, tensor<i1>)
// CHECK:         ^bb0(%[[N:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: i1, %{{.*}}: f32):
// CHECK-NEXT:      %[[EXP:.*]] = math.exp %[[N]] : f32
// CHECK-NEXT:      %[[SQUARE:.*]] = arith.mulf %[[EXP]], %[[EXP]] : f32
// CHECK-NEXT:      %[[LESS:.*]] = arith.cmpf olt, %[[SQUARE]], %[[Y]] : f32
// CHECK-NEXT:      arith.select %[[LESS]], %[[SQUARE]], %[[Y]] : f32
// CHECK:           linalg.yield
// CHECK-NOT:     linalg.generic
func.func @cluster(%x: tensor<4xf32>, %y: tensor<4xf32>, %s: tensor<i1>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = xla.add %x, %y : tensor<4xf32>
  %1 = xla.exponential %0 : tensor<4xf32>
  %2 = xla.multiply %1, %1 : tensor<4xf32>
  %3 = xla.compare %2, %y {direction = LT}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %4 = xla.select %3, %2, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = xla.select %s, %4, %0
      : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %5 : tensor<4xf32>, tensor<4xf32>
}
