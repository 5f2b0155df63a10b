// How passes are named as mlir-opt takes them, and what is reported of them.

// RUN: xla-opt %s --pass-pipeline='builtin.module(xla-expand-bitcast, xla-simplify{max_constant_bytes=0})' | filecheck %s
// RUN: not xla-opt %s --pass-pipeline='xla-simplify' 2>&1 | filecheck %s --check-prefix=ANCHOR
// RUN: xla-opt %s --pass-pipeline='builtin.module( func.func(xla-expand-bitcast, any( xla-simplify{max_constant_bytes=0} )) )' | filecheck %s
// RUN: not xla-opt %s --pass-pipeline='builtin.module(gpu.module(xla-simplify))' 2>&1 | filecheck %s --check-prefix=NESTED
// RUN: not xla-opt %s --pass-pipeline='builtin.module(func.func(xla-simplify)' 2>&1 | filecheck %s --check-prefix=UNCLOSED
// RUN: not xla-opt %s --pass-pipeline='builtin.module(xla-simplify),xla-inline)' 2>&1 | filecheck %s --check-prefix=UNCLOSED
// RUN: not xla-opt %s -p xla-simplify{max_constant_bytes=many} 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: not xla-opt %s -p xla-simplify{max_constant_bytes} 2>&1 | filecheck %s --check-prefix=NO-VALUE
// RUN: not xla-opt %s -p xla-simplify{most=1} 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not xla-opt %s -p xla-simplify --pass-pipeline='builtin.module()' 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not xla-opt %s --pass-pipe='builtin.module()' 2>&1 | filecheck %s --check-prefix=WHOLE-NAMES
// RUN: xla-opt %s -p xla-simplify,convert-xla-to-linalg --mlir-pass-statistics -o %t.out 2>&1 | filecheck %s --check-prefix=STATISTICS
// RUN: rm -rf %t.tree && xla-opt %s -p xla-expand-bitcast,xla-simplify --mlir-print-ir-tree-dir=%t.tree -o %t.out && filecheck %s --input-file=%t.tree/1_after_xla-simplify.mlir --check-prefix=TREE

// ANCHOR: xla-opt: error: pipeline 'xla-simplify' is not of the form 'builtin.module(...)'
// NESTED: passes run on modules and functions, not on 'gpu.module'
// UNCLOSED: '(' and ')' do not match
// VALUE: xla-opt: error: pass xla-simplify: max_constant_bytes is 'many', wanted int
// NO-VALUE: xla-opt: error: pass xla-simplify: max_constant_bytes is nothing, wanted int
// OPTION: xla-opt: error: pass xla-simplify: there is no option 'most' (it has: max_constant_bytes
// BOTH: --passes and --pass-pipeline both say which passes to run
// WHOLE-NAMES: unrecognized arguments: --pass-pipe=

// STATISTICS: Pass statistics report
// STATISTICS: xla-simplify
// STATISTICS-NEXT: (S)      -2 xla: 2 to 0
// STATISTICS-NEXT: convert-xla-to-linalg
// STATISTICS-NOT: (S)

// TREE: // -----// IR Dump After xla-simplify //----- //
// TREE-NOT: xla.reverse

// CHECK-LABEL: @twice_reversed
// CHECK-NEXT: func.return %x
func.func @twice_reversed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = xla.reverse %x {dimensions = [0]} : tensor<4xf32>
  %1 = xla.reverse %0 {dimensions = [0]} : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
