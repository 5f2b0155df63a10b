// What --verify-diagnostics takes, and in the second file what it does not let pass.

// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: not xla-opt %S/verify_diagnostics.failing --split-input-file --verify-diagnostics 2>&1 | filecheck %S/verify_diagnostics.failing --check-prefix=FAULT

// What no comment expects is passed over, what one does is not; `=all` is the usual check.
// RUN: not xla-opt %S/verify_diagnostics.failing --split-input-file --verify-diagnostics=only-expected 2>&1 | filecheck %S/verify_diagnostics.failing --check-prefix=ONLY-EXPECTED
// RUN: not xla-opt %S/verify_diagnostics.failing --split-input-file --mlir-verify-diagnostics=all 2>&1 | filecheck %S/verify_diagnostics.failing --check-prefix=FAULT

// CHECK: xla.negate
func.func @without_error(%x: tensor<4xf32>) {
  %0 = xla.negate %x : tensor<4xf32>
  func.return
}

// -----

func.func @below(%x: tensor<2xi1>) {
  // expected-error-re@below {{(C1) operand has {{[a-z]+}} type pred, allowed}}
  %0 = xla.negate %x : tensor<2xi1>
  func.return
}

// -----

func.func @above(%x: tensor<2xi1>) {
  %0 = xla.negate %x : tensor<2xi1>
  // expected-error@above {{(C1) operand has element type pred}}
  func.return
}

// -----

func.func @counted(%x: tensor<2xi1>) {
  %0 = xla.negate %x : tensor<2xi1>
  func.return
}
// expected-error@-3 {{(C1)}}
