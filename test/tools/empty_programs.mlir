// Programs of comments, of aliases and of nothing are empty modules, as for mlir-opt.

// RUN: xla-opt %s --split-input-file | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics -o %t.verified
// RUN: xla-opt /dev/null -t stablehlo | filecheck %s --check-prefix=STABLEHLO
// RUN: not xla-run %s 2>&1 | filecheck %s --check-prefix=NO-FUNCTION
// RUN: not xla-run %s --entry f 2>&1 | filecheck %s --check-prefix=NO-ENTRY

// CHECK:      builtin.module {
// CHECK-NEXT: }
// CHECK-NEXT: // -----
// CHECK-NEXT: builtin.module {
// CHECK-NEXT: }
// CHECK-NEXT: // -----
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   func.func private @f() -> ()
// CHECK-NEXT: }
// CHECK-NEXT: // -----
// CHECK-NEXT: builtin.module {
// CHECK-NEXT: }
// CHECK-NOT:  {{.}}

// STABLEHLO:      module {
// STABLEHLO-NEXT: }

// NO-FUNCTION: xla-run: error: there is neither @main nor a public function without arguments; --entry NAME runs another (there are: none)
// NO-ENTRY:    xla-run: error: there is no public function @f (there are: none)

// -----

#map = affine_map<(d0) -> (d0)>
!array = tensor<4xf32>

// -----

func.func private @f()

// -----
