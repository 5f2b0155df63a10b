// RUN: xla-opt %s -p linalg-tile-and-fuse | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// What two operations hand each other exists as a tile: 64 of 4096 rows, in 8 parts that are
// independent. What asks for the number of a row gets that of the whole loop.
// CHECK-LABEL: @rows
// CHECK-SAME:    %[[X:.*]]: tensor<4096x4096xf32>)
// CHECK:         %[[ALL:.*]] = tensor.empty() : tensor<4096xf32>
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[ALL]])
// CHECK:           scf.for %[[I:.*]] = {{.*}} iter_args(%[[SUMS:.*]] = %{{.*}})
// CHECK:             %[[PART:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [64, 4096] [1, 1]
// CHECK:             linalg.generic {{.*}} ins(%[[PART]] : tensor<64x4096xf32>) outs(%{{.*}} : tensor<64x4096xf32>)
// CHECK:               %[[INDEX:.*]] = linalg.index 0 : index
// CHECK-NEXT:          arith.addi %[[INDEX]], %[[I]] : index
// CHECK:             %[[PLACE:.*]] = tensor.extract_slice %[[SUMS]][%[[I]]] [64] [1]
// CHECK:             %[[START:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[PLACE]] : tensor<64xf32>)
// CHECK:             %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[START]] : tensor<64xf32>)
// CHECK:             tensor.insert_slice %[[SUM]] into %[[SUMS]][%[[I]]] [64] [1]
// CHECK:         {xla.independent_microseconds
func.func @rows(%x: tensor<4096x4096xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %s = tensor.empty() : tensor<4096xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %r = arith.mulf %a, %f : f32
    linalg.yield %r : f32
  } -> tensor<4096x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%s : tensor<4096xf32>) -> tensor<4096xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4096x4096xf32>) outs(%init : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  func.return %1 : tensor<4096xf32>
}

// The sums of columns go on from tile to tile: the loop carries them, as they were filled outside.
// Of one head at a time, 256 rows; heads are independent.
// CHECK-LABEL: @sums_of_columns
// CHECK:         %[[ZEROS:.*]] = linalg.fill
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[ZEROS]])
// CHECK:           scf.for %{{.*}} = {{.*}} iter_args(%[[SUMS:.*]] = %{{.*}})
// CHECK-COUNT-1:       linalg.generic {{.*}} outs(%{{.*}} : tensor<1x256x1024xf32>)
// CHECK:               %[[PLACE:.*]] = tensor.extract_slice %[[SUMS]][%{{.*}}, 0] [1, 1024] [1, 1]
// CHECK-NOT:           linalg.fill
// CHECK:               linalg.generic {{.*}} outs(%[[PLACE]] : tensor<1x1024xf32>)
func.func @sums_of_columns(%x: tensor<8x4096x1024xf32>) -> tensor<8x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4096x1024xf32>
  %s = tensor.empty() : tensor<8x1024xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<8x4096x1024xf32>) outs(%e : tensor<8x4096x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8x4096x1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%s : tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(h, j, i) -> (h, i, j)>, affine_map<(h, j, i) -> (h, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0 : tensor<8x4096x1024xf32>) outs(%init : tensor<8x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<8x1024xf32>
  func.return %1 : tensor<8x1024xf32>
}

// All rows are divided by the first one: a tile of rows does not have it.
// CHECK-LABEL: @first_row
// CHECK-NOT:     scf.for
func.func @first_row(%x: tensor<4096x1024xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x1024xf32>
  %s = tensor.empty() : tensor<4096xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4096x1024xf32>) outs(%e : tensor<4096x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4096x1024xf32>
  %1 = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (0, d1)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %0 : tensor<4096x1024xf32>, tensor<4096x1024xf32>) outs(%e : tensor<4096x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4096x1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%s : tensor<4096xf32>) -> tensor<4096xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%1 : tensor<4096x1024xf32>) outs(%init : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  func.return %2 : tensor<4096xf32>
}

// Without heads, no loop over tiles would be parallel.
// CHECK-LABEL: @nothing_parallel
// CHECK-NOT:     scf.for
func.func @nothing_parallel(%x: tensor<4096x1024xf32>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x1024xf32>
  %s = tensor.empty() : tensor<1024xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4096x1024xf32>) outs(%e : tensor<4096x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4096x1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%s : tensor<1024xf32>) -> tensor<1024xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4096x1024xf32>) outs(%init : tensor<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  func.return %1 : tensor<1024xf32>
}

// Two layers would read all weights again for each tile: more than what lies between them.
// CHECK-LABEL: @weights
// CHECK-NOT:     scf.for
func.func @weights(%x: tensor<2048x2048xf32>, %v: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%init : tensor<2048x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2048x2048xf32>
  %f = tensor.empty() : tensor<2048x2048xf32>
  %second = linalg.fill ins(%zero : f32) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%second : tensor<2048x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2048x2048xf32>
  func.return %1 : tensor<2048x2048xf32>
}

// All keys are read again for each tile, so a tile has the queries last: the numbers of keys and of
// weights are then rows. What is added from outside comes in that order. Reading keys again, which
// stay in the cache, costs less than scores in memory, however long the sequence.
// CHECK-LABEL: @attention
// CHECK-SAME:    %[[Q:.*]]: tensor<2x16384x64xf32>, %[[K:.*]]: tensor<2x16384x64xf32>, %[[B:.*]]: tensor<2x16384x16384xf32>)
// CHECK:         %[[QS:.*]] = tensor.extract_slice %[[Q]][{{.*}}] [1, 16, 64] [1, 1, 1]
// CHECK:         %[[KS:.*]] = tensor.extract_slice %[[K]][{{.*}}] [1, 16384, 64] [1, 1, 1]
// CHECK:         linalg.generic {{.*}}(d0, d1, d2, d3) -> (d0, d2, d1)>]{{.*}} ins(%[[QS]], %[[KS]] : {{.*}}) outs(%{{.*}} : tensor<1x16384x16xf32>)
// CHECK:         %[[BS:.*]] = tensor.extract_slice %[[B]][{{.*}}] [1, 16, 16384] [1, 1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[BS]] : tensor<1x16x16384xf32>) outs(%{{.*}} : tensor<1x16384x16xf32>)
// CHECK:         %[[E:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x16384x16xf32>)
// CHECK:           math.exp
// CHECK:         linalg.generic {{.*}} ins(%[[E]], %{{.*}} : tensor<1x16384x16xf32>, tensor<1x16384x64xf32>) outs(%{{.*}} : tensor<1x16x64xf32>)
func.func @attention(%q: tensor<2x16384x64xf32>, %k: tensor<2x16384x64xf32>, %bias: tensor<2x16384x16384xf32>) -> tensor<2x16384x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x16384x16384xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x16384x16384xf32>) -> tensor<2x16384x16384xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(h, i, j, k) -> (h, i, k)>, affine_map<(h, i, j, k) -> (h, j, k)>, affine_map<(h, i, j, k) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x16384x64xf32>, tensor<2x16384x64xf32>) outs(%init : tensor<2x16384x16384xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x16384x16384xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %bias : tensor<2x16384x16384xf32>, tensor<2x16384x16384xf32>) outs(%e : tensor<2x16384x16384xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %r = math.exp %s : f32
    linalg.yield %r : f32
  } -> tensor<2x16384x16384xf32>
  %f = tensor.empty() : tensor<2x16384x64xf32>
  %second = linalg.fill ins(%zero : f32) outs(%f : tensor<2x16384x64xf32>) -> tensor<2x16384x64xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(h, i, j, k) -> (h, i, k)>, affine_map<(h, i, j, k) -> (h, k, j)>, affine_map<(h, i, j, k) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%1, %k : tensor<2x16384x16384xf32>, tensor<2x16384x64xf32>) outs(%second : tensor<2x16384x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x16384x64xf32>
  func.return %2 : tensor<2x16384x64xf32>
}

// A window slides over the images of a tile, which are whole; a part has several of them. A convolution with several results
// for each window stays.
// CHECK-LABEL: @windows
// CHECK:         scf.for {{.*}} = %{{.*}} to %[[PARTS:.*]] step
// CHECK:           scf.for %[[I:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<8x512x512xf32>)
// CHECK:             linalg.generic {{.*}} outs(%{{.*}} : tensor<1x514x512xf32>)
// CHECK:             linalg.generic {{.*}}[affine_map<(d0, d1, d2, d3) -> (d0, (d1 + d3), d2)>{{.*}} outs(%{{.*}} : tensor<1x512x512xf32>)
// CHECK:             tensor.insert_slice
// CHECK-NOT:       scf.for
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<8x512x8xf32>)
func.func @windows(%x: tensor<8x512x512xf32>, %w: tensor<3x512xf32>, %v: tensor<3x512x8xf32>) -> (tensor<8x512x512xf32>, tensor<8x512x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x514x512xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, i, c) -> (n, i, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%e : tensor<8x514x512xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %i = linalg.index 1 : index
    %c = linalg.index 2 : index
    %last = arith.constant 511 : index
    %inside = arith.minui %i, %last : index
    %r = tensor.extract %x[%n, %inside, %c] : tensor<8x512x512xf32>
    linalg.yield %r : f32
  } -> tensor<8x514x512xf32>
  %p = tensor.empty() : tensor<8x512x512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%p : tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(n, i, c, k) -> (n, i + k, c)>, affine_map<(n, i, c, k) -> (k, c)>, affine_map<(n, i, c, k) -> (n, i, c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%0, %w : tensor<8x514x512xf32>, tensor<3x512xf32>) outs(%zeros : tensor<8x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x512x512xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(n, i, c) -> (n, i, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%e : tensor<8x514x512xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 2 : index
    %r = tensor.extract %x[%n, %n, %c] : tensor<8x512x512xf32>
    linalg.yield %r : f32
  } -> tensor<8x514x512xf32>
  %q = tensor.empty() : tensor<8x512x8xf32>
  %few = linalg.fill ins(%zero : f32) outs(%q : tensor<8x512x8xf32>) -> tensor<8x512x8xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(n, i, f, k, c) -> (n, i + k, c)>, affine_map<(n, i, f, k, c) -> (k, c, f)>, affine_map<(n, i, f, k, c) -> (n, i, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%2, %v : tensor<8x514x512xf32>, tensor<3x512x8xf32>) outs(%few : tensor<8x512x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x512x8xf32>
  func.return %1, %3 : tensor<8x512x512xf32>, tensor<8x512x8xf32>
}
