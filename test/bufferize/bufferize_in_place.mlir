// RUN: xla-opt %s --split-input-file -p xla-bufferize | filecheck %s

// The destination of a reduction is updated where its initial value was filled in; the sum of both
// needs memory of its own.

#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @reduction(
// CHECK:         linalg.fill ins(%zero : f32) outs(%result : memref<2xf32>)
// CHECK-NEXT:    linalg.generic {{.*}} ins(%a : memref<2x3xf32>) outs(%result : memref<2xf32>) {
// CHECK-NOT:     memref.alloc
func.func @reduction(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<2x3xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// A destination that is an input, or that is used later, is copied first.

// CHECK-LABEL: func.func @copied_destination(
// CHECK-SAME:    %a: memref<4xf32>, %x: f32, %result: memref<4xf32>, %result_1: memref<4xf32>)
// CHECK:         "memref.copy"(%a, %result)
// CHECK-NEXT:    memref.store %x, %result[%c1]
// CHECK-NEXT:    "memref.copy"(%result, %result_1)
// CHECK-NEXT:    memref.store %x, %result_1[%c2]
// CHECK-NEXT:    func.return
func.func @copied_destination(%a: tensor<4xf32>, %x: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = tensor.insert %x into %a[%c1] : tensor<4xf32>
  %c = tensor.insert %x into %b[%c2] : tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// What was read of a tensor before it is overwritten stays a view; what is read afterwards is
// copied, and not the tensor.

// CHECK-LABEL: func.func @views(
// CHECK:         %b = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
// CHECK-NEXT:    %early = memref.subview %b[0] [2] [1] : memref<8xf32> to memref<2xf32>
// CHECK-NEXT:    linalg.exp ins(%early : memref<2xf32>) outs(%result : memref<2xf32>)
// CHECK-NEXT:    %[[LATE:.*]] = memref.subview %b[2] [2] [2] : memref<8xf32> to memref<2xf32, strided<[2], offset: 2>>
// CHECK-NEXT:    %late = memref.alloc() : memref<2xf32>
// CHECK-NEXT:    "memref.copy"(%[[LATE]], %late)
// CHECK-NEXT:    memref.store %x, %b[%c1]
// CHECK-NEXT:    linalg.exp ins(%late : memref<2xf32>) outs(%result_1 : memref<2xf32>)
// CHECK-NEXT:    linalg.exp ins(%b : memref<8xf32>) outs(%result_2 : memref<8xf32>)
func.func @views(%a: tensor<8xf32>, %x: f32) -> (tensor<2xf32>, tensor<2xf32>, tensor<8xf32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %e2 = tensor.empty() : tensor<2xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %early = tensor.extract_slice %b[0][2][1] : tensor<8xf32> to tensor<2xf32>
  %r = linalg.exp ins(%early : tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %late = tensor.extract_slice %b[2][2][2] : tensor<8xf32> to tensor<2xf32>
  %c = tensor.insert %x into %b[%c1] : tensor<8xf32>
  %s = linalg.exp ins(%late : tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %t = linalg.exp ins(%c : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r, %s, %t : tensor<2xf32>, tensor<2xf32>, tensor<8xf32>
}

// -----

// Source and destination of an insertion overlap: the source is copied first.

// CHECK-LABEL: func.func @shift(
// CHECK:         linalg.exp ins(%a : memref<8xf32>) outs(%result : memref<8xf32>)
// CHECK-NEXT:    %part = memref.subview %result[0] [7] [1]
// CHECK-NEXT:    %[[COPY:.*]] = memref.alloc() : memref<7xf32>
// CHECK-NEXT:    "memref.copy"(%part, %[[COPY]])
// CHECK-NEXT:    %[[TARGET:.*]] = memref.subview %result[1] [7] [1]
// CHECK-NEXT:    "memref.copy"(%[[COPY]], %[[TARGET]])
// CHECK-NEXT:    func.return
func.func @shift(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %part = tensor.extract_slice %b[0][7][1] : tensor<8xf32> to tensor<7xf32>
  %c = tensor.insert_slice %part into %b[1][7][1] : tensor<7xf32> into tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

// The parts of a concatenation are computed in their places, in whatever order; an input is copied.

// CHECK-LABEL: func.func @concatenation(
// CHECK-SAME:    %a: memref<2x4xf32>, %result: memref<6x4xf32>)
// CHECK-NEXT:    %b = memref.subview %result[4, 0] [2, 4] [1, 1] : memref<6x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 16>>
// CHECK-NEXT:    linalg.exp ins(%a : memref<2x4xf32>) outs(%b : memref<2x4xf32, strided<[4, 1], offset: 16>>)
// CHECK-NEXT:    %c = memref.subview %result[2, 0] [2, 4] [1, 1]
// CHECK-NEXT:    linalg.exp ins(%b : {{.*}}) outs(%c : {{.*}})
// CHECK-NEXT:    %[[FIRST:.*]] = memref.subview %result[0, 0] [2, 4] [1, 1] : memref<6x4xf32> to memref<2x4xf32>
// CHECK-NEXT:    "memref.copy"(%a, %[[FIRST]])
// CHECK-NEXT:    func.return
func.func @concatenation(%a: tensor<2x4xf32>) -> tensor<6x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %b = linalg.exp ins(%a : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = linalg.exp ins(%b : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %whole = tensor.empty() : tensor<6x4xf32>
  %d = tensor.insert_slice %a into %whole[0, 0][2, 4][1, 1] : tensor<2x4xf32> into tensor<6x4xf32>
  %f = tensor.insert_slice %b into %d[4, 0][2, 4][1, 1] : tensor<2x4xf32> into tensor<6x4xf32>
  %g = tensor.insert_slice %c into %f[2, 0][2, 4][1, 1] : tensor<2x4xf32> into tensor<6x4xf32>
  return %g : tensor<6x4xf32>
}

// -----

// Large results take over an input that is dead, if element depends on element; the transposed
// input keeps its memory.

#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @large(
// CHECK:         %b = memref.alloc() : memref<512x512xf32>
// CHECK-NEXT:    linalg.exp ins(%a : {{.*}}) outs(%b : {{.*}})
// CHECK-NEXT:    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<512x512xf32>) outs(%b : memref<512x512xf32>) {
// CHECK-NEXT:    ^bb0(%x: f32, %old: f32):
// CHECK-NEXT:      %z = arith.subf %old, %x : f32
// CHECK:         %d = memref.alloc() : memref<512x512xf32>
// CHECK-NEXT:    linalg.generic {{.*}} ins(%b : {{.*}}) outs(%d : {{.*}}) {
func.func @large(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %e = tensor.empty() : tensor<512x512xf32>
  %b = linalg.exp ins(%a : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %c = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%b, %a : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%y: f32, %x: f32, %old: f32):
    %z = arith.subf %y, %x : f32
    linalg.yield %z : f32
  } -> tensor<512x512xf32>
  %d = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<512x512xf32>
  %f = linalg.exp ins(%d : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %f : tensor<512x512xf32>
}

// -----

// A view of a part, made before the part was put in place, is used afterwards: what changes it is
// not the whole, and what changes the whole is not it.

// CHECK-LABEL: func.func @view_of_part(
// CHECK:         %whole = memref.alloc() : memref<4x2xf32>
// CHECK-NEXT:    %b = memref.subview %whole[0, 0] [2, 2] [1, 1] : memref<4x2xf32> to memref<2x2xf32>
// CHECK-NEXT:    linalg.exp ins(%a : memref<2x2xf32>) outs(%b : memref<2x2xf32>)
// CHECK-NEXT:    %v = memref.collapse_shape %b
// CHECK-NEXT:    %[[SECOND:.*]] = memref.subview %whole[2, 0] [2, 2] [1, 1]
// CHECK-NEXT:    "memref.copy"(%a, %[[SECOND]])
// CHECK-NEXT:    "memref.copy"(%whole, %result)
// CHECK-NEXT:    memref.store %x, %result[%c0, %c0]
// CHECK-NEXT:    "memref.copy"(%v, %result_1)
// CHECK-NEXT:    memref.store %x, %result_1[%c1]
// CHECK-NEXT:    linalg.exp ins(%whole : memref<4x2xf32>) outs(%result_2 : memref<4x2xf32>)
func.func @view_of_part(%a: tensor<2x2xf32>, %x: f32) -> (tensor<4x2xf32>, tensor<4xf32>, tensor<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<2x2xf32>
  %b = linalg.exp ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %v = tensor.collapse_shape %b [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %empty = tensor.empty() : tensor<4x2xf32>
  %half = tensor.insert_slice %b into %empty[0, 0][2, 2][1, 1] : tensor<2x2xf32> into tensor<4x2xf32>
  %whole = tensor.insert_slice %a into %half[2, 0][2, 2][1, 1] : tensor<2x2xf32> into tensor<4x2xf32>
  %c = tensor.insert %x into %whole[%c0, %c0] : tensor<4x2xf32>
  %w = tensor.insert %x into %v[%c1] : tensor<4xf32>
  %e4 = tensor.empty() : tensor<4x2xf32>
  %d = linalg.exp ins(%whole : tensor<4x2xf32>) outs(%e4 : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %c, %w, %d : tensor<4x2xf32>, tensor<4xf32>, tensor<4x2xf32>
}

// -----

// The same with the whole changed in place, but for the view.

// CHECK-LABEL: func.func @whole_changed_before_view(
// CHECK:         %whole = memref.alloc() : memref<4x2xf32>
// CHECK:         "memref.copy"(%whole, %c)
// CHECK-NEXT:    memref.store %x, %c[%c0, %c0]
// CHECK-NEXT:    linalg.exp ins(%v : memref<4xf32>) outs(%result : memref<4xf32>)
// CHECK-NEXT:    linalg.exp ins(%c : memref<4x2xf32>) outs(%result_1 : memref<4x2xf32>)
func.func @whole_changed_before_view(%a: tensor<2x2xf32>, %x: f32) -> (tensor<4xf32>, tensor<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<2x2xf32>
  %b = linalg.exp ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %v = tensor.collapse_shape %b [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %empty = tensor.empty() : tensor<4x2xf32>
  %half = tensor.insert_slice %b into %empty[0, 0][2, 2][1, 1] : tensor<2x2xf32> into tensor<4x2xf32>
  %whole = tensor.insert_slice %a into %half[2, 0][2, 2][1, 1] : tensor<2x2xf32> into tensor<4x2xf32>
  %c = tensor.insert %x into %whole[%c0, %c0] : tensor<4x2xf32>
  %e2 = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%v : tensor<4xf32>) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
  %e4 = tensor.empty() : tensor<4x2xf32>
  %d = linalg.exp ins(%c : tensor<4x2xf32>) outs(%e4 : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r, %d : tensor<4xf32>, tensor<4x2xf32>
}

// -----

// A slice that is put back where it was taken from is changed there; where the tensor is used once
// more, or the operation reads another part of it, it is not.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @slice(
// CHECK:         linalg.exp ins(%a : memref<8xf32>) outs(%result : memref<8xf32>)
// CHECK-NEXT:    %[[PART:.*]] = memref.subview %result[%i] [4] [1]
// CHECK-NEXT:    linalg.generic {{.*}} ins(%u : memref<4xf32>) outs(%[[PART]] :
// CHECK-NOT:     memref.copy
// CHECK:         func.return
func.func @slice(%a: tensor<8xf32>, %u: tensor<4xf32>, %i: index) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %part = tensor.extract_slice %b[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %new = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%u : tensor<4xf32>) outs(%part : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %y, %x : f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  %c = tensor.insert_slice %new into %b[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %c : tensor<8xf32>
}

// CHECK-LABEL: func.func @slice_of_itself(
// CHECK:         %[[OTHER:.*]] = memref.subview %result[%j] [4] [1]
// CHECK-NEXT:    %[[PART:.*]] = memref.subview %result[%i] [4] [1]
// CHECK-NEXT:    %[[COPY:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    "memref.copy"(%[[PART]], %[[COPY]])
// CHECK-NEXT:    linalg.generic {{.*}} ins(%[[OTHER]] : {{.*}}) outs(%[[COPY]] :
func.func @slice_of_itself(%a: tensor<8xf32>, %i: index, %j: index) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %other = tensor.extract_slice %b[%j] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %part = tensor.extract_slice %b[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %new = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%other : tensor<4xf32>) outs(%part : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %y, %x : f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  %c = tensor.insert_slice %new into %b[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

// What a large result is computed from, element by element, is put where the result has to be; not
// what other elements are read of, and not what is used afterwards.

#map = affine_map<(d0, d1) -> (d0, d1)>
#mirrored = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @computed_in_result(
// CHECK-NEXT:    linalg.exp ins(%a : memref<256x256xf32>) outs(%result : memref<256x256xf32>)
// CHECK-NEXT:    linalg.generic {{.*}} ins(%a : memref<256x256xf32>) outs(%result : memref<256x256xf32>)
// CHECK-NEXT:    ^bb0(%x: f32, %[[OLD:.*]]: f32):
// CHECK-NEXT:      arith.divf %[[OLD]], %x : f32
// CHECK:         %c = memref.alloc() : memref<256x256xf32>
// CHECK-NEXT:    linalg.exp ins(%a : memref<256x256xf32>) outs(%c : memref<256x256xf32>)
// CHECK-NEXT:    linalg.generic {{.*}} ins(%c, %c : memref<256x256xf32>, memref<256x256xf32>) outs(%result_1 : memref<256x256xf32>)
// CHECK-NOT:     memref.copy
func.func @computed_in_result(%a: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  %e = tensor.empty() : tensor<256x256xf32>
  %b = linalg.exp ins(%a : tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %z = arith.divf %y, %x : f32
    linalg.yield %z : f32
  } -> tensor<256x256xf32>
  %c = linalg.exp ins(%a : tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = linalg.generic {indexing_maps = [#map, #mirrored, #map], iterator_types = ["parallel", "parallel"]} ins(%c, %c : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %z = arith.divf %y, %x : f32
    linalg.yield %z : f32
  } -> tensor<256x256xf32>
  return %r, %s : tensor<256x256xf32>, tensor<256x256xf32>
}
