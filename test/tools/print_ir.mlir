// What --print-ir-* print goes to stderr; changes are looked for on request only.

// RUN: xla-opt %s -p xla-expand-bitcast,xla-simplify --print-ir-before-all --print-ir-after=xla-simplify -o %t.out 2>&1 | filecheck %s --check-prefix=WHOLE
// RUN: xla-opt %s -p xla-expand-bitcast,xla-simplify --mlir-print-ir-after-change -o %t.out 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: xla-opt %s -p xla-expand-bitcast,xla-simplify --print-ir-diff -o %t.out 2>&1 | filecheck %s --check-prefix=DIFF
// RUN: xla-opt %s -p xla-expand-bitcast,xla-simplify --print-ir-after-all --print-ir-diff --print-op-generic 2>/dev/null | filecheck %s --check-prefix=OUT

// WHOLE: // -----// IR Dump Before xla-expand-bitcast //----- //
// WHOLE-NEXT: builtin.module {
// WHOLE: // -----// IR Dump Before xla-simplify //----- //
// WHOLE: xla.reverse
// WHOLE: // -----// IR Dump After xla-simplify //----- //
// WHOLE-NOT: xla.reverse
// WHOLE-NOT: IR Dump

// CHANGE-NOT: xla-expand-bitcast
// CHANGE: // -----// IR Dump After xla-simplify //----- //
// CHANGE-NOT: IR Dump

// The values behind what is gone keep their numbers.
// DIFF-NOT: xla-expand-bitcast
// DIFF: // -----// IR Dump Diff After xla-simplify //----- //
// DIFF-NEXT: --- before xla-simplify
// DIFF-NEXT: +++ after xla-simplify
// DIFF-NEXT: @@ -1,7 +1,6 @@
// DIFF-NEXT:  builtin.module {
// DIFF-NEXT:    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
// DIFF-NEXT: -    %0 = xla.reverse %x {dimensions = []} : tensor<4xf32>
// DIFF-NEXT: -    %1 = xla.tanh %0 : tensor<4xf32>
// DIFF-NEXT: +    %1 = xla.tanh %x : tensor<4xf32>
// DIFF-NEXT:      %2 = xla.negate %1 : tensor<4xf32>
// DIFF-NEXT:      func.return %2 : tensor<4xf32>

// OUT-NOT: IR Dump
// OUT: "builtin.module"()
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = xla.reverse %x {dimensions = []} : tensor<4xf32>
  %1 = xla.tanh %0 : tensor<4xf32>
  %2 = xla.negate %1 : tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
