// RUN: xla-opt %s -p 'pdl{file=%S/rules/roots.pdl}' --print-debuginfo | filecheck %s --check-prefix=CHECK
// RUN: xla-opt %s -p 'pdl{file=%S/rules/roots.pdl rule=abs_of_abs}' | filecheck %s --check-prefix=ONE
// RUN: xla-opt %s --pdl %S/rules/roots.pdl --print-ir-after-change -o /dev/null 2>&1 | filecheck %s --check-prefix=NAMED
// RUN: xla-opt %s -p 'python{file=%S/rules/drop_abs.py most=1}' | filecheck %s --check-prefix=PYTHON

// The other factor is another value, so the second product is no square.
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %a = xla.multiply %x, %x : tensor<3xf32>
  %b = xla.sqrt %a : tensor<3xf32> loc("roots.py":7:3)
  %c = xla.abs %b : tensor<3xf32>
  %d = xla.multiply %x, %y : tensor<3xf32>
  %e = xla.sqrt %d : tensor<3xf32>
  func.return %c, %e : tensor<3xf32>, tensor<3xf32>
}

// CHECK:      xla.abs %x : tensor<3xf32> loc("roots.py":7:3)
// CHECK-NEXT: xla.multiply %x, %y
// CHECK-NEXT: xla.sqrt
// CHECK-NEXT: func.return

// ONE:      xla.sqrt
// ONE-NEXT: xla.abs

// The rule with the greater benefit finds nothing yet when it runs alone.
// NAMED-NOT:  pdl.abs_of_abs
// NAMED:      IR Dump After pdl.root_of_square
// NAMED:      xla.abs
// NAMED-NEXT: xla.abs

// PYTHON-NOT: xla.abs
// PYTHON:     func.return
