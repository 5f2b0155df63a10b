// RUN: xla-opt %s -p xla-inline,xla-simplify,convert-xla-to-linalg --opt-bisect-limit=2 2>&1 | filecheck %s --check-prefix PASSES
// RUN: xla-opt %s -p convert-xla-to-linalg --opt-bisect-limit=-1 2>&1 | filecheck %s --check-prefix ALL
// RUN: xla-opt %s -p convert-xla-to-linalg --debug-counter=convert-xla-to-linalg-count=1 | filecheck %s --check-prefix ONE
// RUN: xla-opt %s -p xla-simplify --debug-counter=xla-simplify-count=1 --print-debug-counter 2>&1 | filecheck %s --check-prefix SIMPLIFY
// RUN: xla-opt %s -p xla-simplify --debug-counter=xla-simplify-count=0 | filecheck %s --check-prefix NONE
// RUN: not xla-opt %s -p xla-simplify --debug-counter=xla-simplify-skip=1 2>&1 | filecheck %s --check-prefix SKIP
// RUN: not xla-opt %s -p xla-simplify --debug-counter=xla-inline-count=1 2>&1 | filecheck %s --check-prefix ABSENT
// RUN: not xla-opt %s -p xla-simplify --debug-counter=nothing-count=1 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: not xla-opt %s -p xla-simplify --opt-bisect-limit=-2 2>&1 | filecheck %s --check-prefix LIMIT

// PASSES:      BISECT: running pass (1) xla-inline
// PASSES-NEXT: BISECT: running pass (2) xla-simplify
// PASSES-NEXT: BISECT: NOT running pass (3) convert-xla-to-linalg
// PASSES:      xla.tanh

// ALL:     BISECT: running pass (1) convert-xla-to-linalg
// ALL-NOT: xla.tanh

// The constant is the first.
// ONE:     linalg.fill
// ONE:     xla.multiply
// ONE:     xla.tanh
// ONE:     xla.multiply

// SIMPLIFY:     xla-simplify: 1 rewrites of 1 at most
// SIMPLIFY-DAG: xla.multiply

// NONE-COUNT-2: xla.multiply

// SKIP: the first cannot be skipped (there is PASS-count=N)
// ABSENT: --debug-counter: the pipeline has no pass xla-inline
// UNKNOWN: --debug-counter: the pipeline has no pass nothing
// LIMIT: --opt-bisect-limit: -2 is neither a number of passes nor -1

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = xla.constant dense<1.0> : tensor<4xf32>
  %0 = xla.multiply %x, %one : tensor<4xf32>
  %1 = xla.tanh %0 : tensor<4xf32>
  %2 = xla.multiply %1, %one : tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
