// RUN: xla-opt %s -p expand-math | filecheck %s
// RUN: xla-opt %s -p expand-math | xla-opt -f mlir - | filecheck %s

// What is used often is expanded once.
// CHECK-LABEL: func.func @often
// CHECK-NEXT:    %[[A:.*]] = func.call @exp.4xf32(%x) : (vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:    func.call @exp.4xf32(%[[A]])
// CHECK-NOT:     math.fma
// CHECK:         func.return
// CHECK-LABEL: func.func private @exp.4xf32
// CHECK-SAME:      attributes {xla.inline}
// CHECK:         math.fma
func.func @often(%x: vector<4xf32>) -> vector<4xf32> {
  %1 = math.exp %x : vector<4xf32>
  %2 = math.exp %1 : vector<4xf32>
  %3 = math.exp %2 : vector<4xf32>
  %4 = math.exp %3 : vector<4xf32>
  %5 = math.exp %4 : vector<4xf32>
  %6 = math.exp %5 : vector<4xf32>
  %7 = math.exp %6 : vector<4xf32>
  %8 = math.exp %7 : vector<4xf32>
  %9 = math.exp %8 : vector<4xf32>
  func.return %9 : vector<4xf32>
}
