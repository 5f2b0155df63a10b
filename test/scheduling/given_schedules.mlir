// RUN: xla-opt %s -p 'xla-plan-schedules{file="%S/given_schedules.schedules"}' | filecheck %s
// RUN: xla-opt %s -p 'xla-plan-schedules{file="%S/given_schedules.schedules" processor="some other"}' | filecheck %s --check-prefix=OTHER
// RUN: xla-opt %s -p 'xla-plan-schedules,convert-linalg-to-vector-loops' --schedules %S/given_schedules.schedules | filecheck %s --check-prefix=LOOPS

#id = affine_map<(d0) -> (d0)>

// The operation of the file, in tiles of two vectors.
// CHECK-LABEL: @scaled
// CHECK:         #schedule.nest<loops = [d0 by 8], vector = d0 x 4>
// OTHER-LABEL: @scaled
// OTHER:         #schedule.nest<loops = [d0]>
// LOOPS-LABEL: @scaled
// LOOPS:         scf.for %{{.*}} = %{{.*}} to %c40 step %c8
// LOOPS-COUNT-2: vector.load {{.*}} vector<4xf32>
func.func @scaled(%x: memref<40xf32>, %y: memref<40xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<40xf32>) outs(%y : memref<40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Other names, and another place in the buffers, make no other operation.
// CHECK-LABEL: @elsewhere
// CHECK:         #schedule.nest<loops = [d0 by 8], vector = d0 x 4>
func.func @elsewhere(%in: memref<40xf32, strided<[1], offset: ?>>, %out: memref<40xf32, strided<[1], offset: 8>>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%in : memref<40xf32, strided<[1], offset: ?>>) outs(%out : memref<40xf32, strided<[1], offset: 8>>) {
  ^bb0(%element: f32, %old: f32):
    %twice = arith.addf %element, %element : f32
    linalg.yield %twice : f32
  }
  return
}

// Another length does.
// CHECK-LABEL: @longer
// CHECK:         #schedule.nest<loops = [d0 by 16], vector = d0 x 16>
func.func @longer(%x: memref<48xf32>, %y: memref<48xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<48xf32>) outs(%y : memref<48xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Nor has what carries a schedule any use for the file.
// CHECK-LABEL: @own
// CHECK:         #schedule.nest<loops = [d0 by 2], vector = d0 x 2>
func.func @own(%x: memref<40xf32>, %y: memref<40xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<40xf32>) outs(%y : memref<40xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0 by 2], vector = d0 x 2>} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}
