// Entering a pipeline at a level, stopping at one, and what is said where a module is below.

// RUN: xla-opt %s -p 'native{to=buffers},native{from=buffers}' -o %t.parts
// RUN: xla-opt %s -p native -o %t.whole
// RUN: diff %t.parts %t.whole
// RUN: xla-opt %t.whole -p 'native{from=loops}' | diff - %t.whole
// RUN: xla-opt %s -p 'native{to=tensors}' | xla-opt -p 'native{from=tensors to=buffers}' | filecheck %s --check-prefix=BUFFERS
// RUN: not xla-opt %s -p 'native{to=buffers},native' 2>&1 | filecheck %s --check-prefix=BELOW
// RUN: not xla-opt %s -p native,native 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not xla-opt %s -p 'native{to=buffers},xla-plan-buffers' 2>&1 | filecheck %s --check-prefix=ARENA
// RUN: not xla-opt %s -p 'native{to=tensors},native{from=buffers}' 2>&1 | filecheck %s --check-prefix=ABOVE
// RUN: xla-opt %s -p 'native{to=schedules target=riscv64}' | filecheck %s --check-prefix=SCALAR
// RUN: xla-opt %s -p 'native{to=schedules target="x86-64{cpu=haswell}"}' | filecheck %s --check-prefix=HASWELL
// RUN: not xla-opt %s -p 'native{target="riscv64{features=+zvl256b}"}' 2>&1 | filecheck %s --check-prefix=FEATURES

// BUFFERS-LABEL: func.func @main(%x: memref<64xf32>, %result: memref<64xf32>, %arena: memref<0xi8>)
// BUFFERS-SAME:    xla.arena_bytes = 0 : i64
// BUFFERS:         func.call @{{.*}}(%x, %result)

// BELOW: levels.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{[a-z-]+}} takes modules of the level 'xla'; this one is at 'buffers', as func.call shows (native{from=buffers} goes on from there)
// TWICE: error: {{[a-z-]+}} takes modules of the level 'xla'; this one is at 'loops', as func.call shows
// ARENA: xla-plan-buffers: 1 operation is left unconverted
// ARENA: func.func: 1, {{.*}}levels.mlir:{{[0-9]+}}:{{[0-9]+}} (it has an arena already)
// ABOVE: error: xla-plan-schedules takes modules of the level 'buffers' or 'schedules' or 'loops'; this one is at 'tensors', as {{[a-z.]+}} shows (native{from=tensors} goes on from there)
// SCALAR-NOT: vector =
// HASWELL: vector = d0 x 8
// FEATURES: error: riscv64-unknown-linux-gnu features=+m,+a,+f,+d,+c,+zvl256b: 'zvl*b' requires 'v' or 'zve*' extension to also be specified
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = xla.multiply %x, %x : tensor<64xf32>
  func.return %0 : tensor<64xf32>
}
