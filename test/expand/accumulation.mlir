// RUN: xla-opt %s -p xla-expand-compound | filecheck %s

// xla-update-checks: CHECK @reduce
// CHECK-LABEL:   func.func @reduce(%x: tensor<4x20xbf16>, %init: tensor<bf16>) -> tensor<4xbf16> {
// CHECK-NEXT:      %[[CONVERT:.*]] = xla.convert %x : (tensor<4x20xbf16>) -> tensor<4x20xf32>
// CHECK-NEXT:      %[[CONVERT_1:.*]] = xla.convert %init : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT:      %[[REDUCE:.*]] = xla.reduce %[[CONVERT]], %[[CONVERT_1]] {dimensions = [1]} : (tensor<4x20xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %[[ADD:.*]] = xla.add %[[ARG_1]], %[[ARG]] : tensor<f32>
// CHECK-NEXT:        xla.return %[[ADD]] : tensor<f32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %sum = xla.convert %[[REDUCE]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT:      func.return %sum : tensor<4xbf16>
// CHECK-NEXT:    }
func.func @reduce(%x: tensor<4x20xbf16>, %init: tensor<bf16>) -> tensor<4xbf16> {
  %sum = xla.reduce %x, %init {dimensions = [1]} : (tensor<4x20xbf16>, tensor<bf16>) -> tensor<4xbf16> to_apply (%a: tensor<bf16>, %b: tensor<bf16>) {
    %0 = xla.add %b, %a : tensor<bf16>
    xla.return %0 : tensor<bf16>
  }
  func.return %sum : tensor<4xbf16>
}

// xla-update-checks: CHECK @parts
// CHECK-LABEL:   func.func @parts(%x: tensor<4x20xcomplex<f32>>, %init: tensor<complex<f32>>) -> tensor<4xcomplex<f32>> {
// CHECK-NEXT:      %[[REAL:.*]] = xla.real %x : (tensor<4x20xcomplex<f32>>) -> tensor<4x20xf32>
// CHECK-NEXT:      %[[REAL_1:.*]] = xla.real %init : (tensor<complex<f32>>) -> tensor<f32>
// CHECK-NEXT:      %[[REDUCE:.*]] = xla.reduce %[[REAL]], %[[REAL_1]] {dimensions = [1]} : (tensor<4x20xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %[[ADD:.*]] = xla.add %[[ARG]], %[[ARG_1]] : tensor<f32>
// CHECK-NEXT:        xla.return %[[ADD]] : tensor<f32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[IMAG:.*]] = xla.imag %x : (tensor<4x20xcomplex<f32>>) -> tensor<4x20xf32>
// CHECK-NEXT:      %[[IMAG_1:.*]] = xla.imag %init : (tensor<complex<f32>>) -> tensor<f32>
// CHECK-NEXT:      %[[REDUCE_1:.*]] = xla.reduce %[[IMAG]], %[[IMAG_1]] {dimensions = [1]} : (tensor<4x20xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%[[ARG_2:.*]]: tensor<f32>, %[[ARG_3:.*]]: tensor<f32>) {
// CHECK-NEXT:        %[[ADD_1:.*]] = xla.add %[[ARG_2]], %[[ARG_3]] : tensor<f32>
// CHECK-NEXT:        xla.return %[[ADD_1]] : tensor<f32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %sum = xla.complex %[[REDUCE]], %[[REDUCE_1]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
// CHECK-NEXT:      func.return %sum : tensor<4xcomplex<f32>>
// CHECK-NEXT:    }
func.func @parts(%x: tensor<4x20xcomplex<f32>>, %init: tensor<complex<f32>>) -> tensor<4xcomplex<f32>> {
  %sum = xla.reduce %x, %init {dimensions = [1]} : (tensor<4x20xcomplex<f32>>, tensor<complex<f32>>) -> tensor<4xcomplex<f32>> to_apply (%a: tensor<complex<f32>>, %b: tensor<complex<f32>>) {
    %0 = xla.add %a, %b : tensor<complex<f32>>
    xla.return %0 : tensor<complex<f32>>
  }
  func.return %sum : tensor<4xcomplex<f32>>
}

// xla-update-checks: CHECK @reduce_window
// CHECK-LABEL:   func.func @reduce_window(%x: tensor<20xf16>, %init: tensor<f16>) -> tensor<20xf16> {
// CHECK-NEXT:      %[[CONVERT:.*]] = xla.convert %x : (tensor<20xf16>) -> tensor<20xf32>
// CHECK-NEXT:      %[[CONVERT_1:.*]] = xla.convert %init : (tensor<f16>) -> tensor<f32>
// CHECK-NEXT:      %[[REDUCE_WINDOW:.*]] = xla.reduce_window %[[CONVERT]], %[[CONVERT_1]] {window = #xla.window<size=20 pad=19_0>} : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32> to_apply (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %[[MULTIPLY:.*]] = xla.multiply %[[ARG]], %[[ARG_1]] : tensor<f32>
// CHECK-NEXT:        xla.return %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %sums = xla.convert %[[REDUCE_WINDOW]] : (tensor<20xf32>) -> tensor<20xf16>
// CHECK-NEXT:      func.return %sums : tensor<20xf16>
// CHECK-NEXT:    }
func.func @reduce_window(%x: tensor<20xf16>, %init: tensor<f16>) -> tensor<20xf16> {
  %sums = xla.reduce_window %x, %init {window = #xla.window<size=20 pad=19_0>} : (tensor<20xf16>, tensor<f16>) -> tensor<20xf16> to_apply (%a: tensor<f16>, %b: tensor<f16>) {
    %0 = xla.multiply %a, %b : tensor<f16>
    xla.return %0 : tensor<f16>
  }
  func.return %sums : tensor<20xf16>
}

// xla-update-checks: CHECK @select_and_scatter
// CHECK-LABEL:   func.func @select_and_scatter(%x: tensor<8xbf16>, %s: tensor<4xbf16>, %init: tensor<bf16>) -> tensor<8xbf16> {
// CHECK-NEXT:      %[[CONVERT:.*]] = xla.convert %x : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK-NEXT:      %[[CONVERT_1:.*]] = xla.convert %s : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT:      %[[CONVERT_2:.*]] = xla.convert %init : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT:      %[[SELECT_AND_SCATTER:.*]] = xla.select_and_scatter %[[CONVERT]], %[[CONVERT_1]], %[[CONVERT_2]] {window = #xla.window<size=2 stride=2>} : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32> select (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %b = xla.convert %[[ARG_1]] : (tensor<f32>) -> tensor<bf16>
// CHECK-NEXT:        %a = xla.convert %[[ARG]] : (tensor<f32>) -> tensor<bf16>
// CHECK-NEXT:        %[[COMPARE:.*]] = xla.compare %a, %b {direction = GE} : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
// CHECK-NEXT:        xla.return %[[COMPARE]] : tensor<i1>
// CHECK-NEXT:      } scatter (%[[ARG_2:.*]]: tensor<f32>, %[[ARG_3:.*]]: tensor<f32>) {
// CHECK-NEXT:        %[[ADD:.*]] = xla.add %[[ARG_2]], %[[ARG_3]] : tensor<f32>
// CHECK-NEXT:        xla.return %[[ADD]] : tensor<f32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[CONVERT_3:.*]] = xla.convert %[[SELECT_AND_SCATTER]] : (tensor<8xf32>) -> tensor<8xbf16>
// CHECK-NEXT:      func.return %[[CONVERT_3]] : tensor<8xbf16>
// CHECK-NEXT:    }
func.func @select_and_scatter(%x: tensor<8xbf16>, %s: tensor<4xbf16>, %init: tensor<bf16>) -> tensor<8xbf16> {
  %0 = xla.select_and_scatter %x, %s, %init {window = #xla.window<size=2 stride=2>} : (tensor<8xbf16>, tensor<4xbf16>, tensor<bf16>) -> tensor<8xbf16> select (%a: tensor<bf16>, %b: tensor<bf16>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%a: tensor<bf16>, %b: tensor<bf16>) {
    %1 = xla.add %a, %b : tensor<bf16>
    xla.return %1 : tensor<bf16>
  }
  func.return %0 : tensor<8xbf16>
}

// xla-update-checks: CHECK @scatter
// CHECK-LABEL:   func.func @scatter(%x: tensor<8xbf16>, %i: tensor<3xi32>, %u: tensor<3xbf16>) -> tensor<8xbf16> {
// CHECK-NEXT:      %[[CONVERT:.*]] = xla.convert %x : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK-NEXT:      %[[CONVERT_1:.*]] = xla.convert %u : (tensor<3xbf16>) -> tensor<3xf32>
// CHECK-NEXT:      %[[SCATTER:.*]] = xla.scatter %[[CONVERT]], %i, %[[CONVERT_1]] {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<8xf32>, tensor<3xi32>, tensor<3xf32>) -> tensor<8xf32> to_apply (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %[[ADD:.*]] = xla.add %[[ARG]], %[[ARG_1]] : tensor<f32>
// CHECK-NEXT:        xla.return %[[ADD]] : tensor<f32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[CONVERT_2:.*]] = xla.convert %[[SCATTER]] : (tensor<8xf32>) -> tensor<8xbf16>
// CHECK-NEXT:      func.return %[[CONVERT_2]] : tensor<8xbf16>
// CHECK-NEXT:    }
func.func @scatter(%x: tensor<8xbf16>, %i: tensor<3xi32>, %u: tensor<3xbf16>) -> tensor<8xbf16> {
  %0 = xla.scatter %x, %i, %u {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<8xbf16>, tensor<3xi32>, tensor<3xbf16>) -> tensor<8xbf16> to_apply (%a: tensor<bf16>, %b: tensor<bf16>) {
    %1 = xla.add %a, %b : tensor<bf16>
    xla.return %1 : tensor<bf16>
  }
  func.return %0 : tensor<8xbf16>
}

// Each element is rounded once as it is: it stays in place.
// xla-update-checks: CHECK @scatter_once
// CHECK-LABEL:   func.func @scatter_once(%x: tensor<8xbf16>, %i: tensor<3xi32>, %u: tensor<3xbf16>) -> tensor<8xbf16> {
// CHECK-NEXT:      %[[SCATTER:.*]] = xla.scatter %x, %i, %u {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1, unique_indices = true} : (tensor<8xbf16>, tensor<3xi32>, tensor<3xbf16>) -> tensor<8xbf16> to_apply (%a: tensor<bf16>, %b: tensor<bf16>) {
// CHECK-NEXT:        %[[ADD:.*]] = xla.add %a, %b : tensor<bf16>
// CHECK-NEXT:        xla.return %[[ADD]] : tensor<bf16>
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return %[[SCATTER]] : tensor<8xbf16>
// CHECK-NEXT:    }
func.func @scatter_once(%x: tensor<8xbf16>, %i: tensor<3xi32>, %u: tensor<3xbf16>) -> tensor<8xbf16> {
  %0 = xla.scatter %x, %i, %u {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1, unique_indices = true} : (tensor<8xbf16>, tensor<3xi32>, tensor<3xbf16>) -> tensor<8xbf16> to_apply (%a: tensor<bf16>, %b: tensor<bf16>) {
    %1 = xla.add %a, %b : tensor<bf16>
    xla.return %1 : tensor<bf16>
  }
  func.return %0 : tensor<8xbf16>
}

// Nothing is added but what the computation does step by step.
// xla-update-checks: CHECK @other
// CHECK-LABEL:   func.func @other(%x: tensor<20xbf16>, %init: tensor<bf16>) -> tensor<bf16> {
// CHECK-NEXT:      %sum = xla.reduce %x, %init {dimensions = [0]} : (tensor<20xbf16>, tensor<bf16>) -> tensor<bf16> to_apply (%a: tensor<bf16>, %b: tensor<bf16>) {
// CHECK-NEXT:        %[[ADD:.*]] = xla.add %a, %b : tensor<bf16>
// CHECK-NEXT:        %[[NEGATE:.*]] = xla.negate %[[ADD]] : tensor<bf16>
// CHECK-NEXT:        xla.return %[[NEGATE]] : tensor<bf16>
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return %sum : tensor<bf16>
// CHECK-NEXT:    }
func.func @other(%x: tensor<20xbf16>, %init: tensor<bf16>) -> tensor<bf16> {
  %sum = xla.reduce %x, %init {dimensions = [0]} : (tensor<20xbf16>, tensor<bf16>) -> tensor<bf16> to_apply (%a: tensor<bf16>, %b: tensor<bf16>) {
    %0 = xla.add %a, %b : tensor<bf16>
    %1 = xla.negate %0 : tensor<bf16>
    xla.return %1 : tensor<bf16>
  }
  func.return %sum : tensor<bf16>
}

// The factors' parts, one with another.
// xla-update-checks: CHECK @dot
// CHECK-LABEL:   func.func @dot(%x: tensor<4x20xcomplex<f32>>, %y: tensor<20x3xf32>) -> tensor<4x3xcomplex<f32>> {
// CHECK-NEXT:      %[[CONVERT:.*]] = xla.convert %x : tensor<4x20xcomplex<f32>>
// CHECK-NEXT:      %[[REAL:.*]] = xla.real %[[CONVERT]] : (tensor<4x20xcomplex<f32>>) -> tensor<4x20xf32>
// CHECK-NEXT:      %[[IMAG:.*]] = xla.imag %[[CONVERT]] : (tensor<4x20xcomplex<f32>>) -> tensor<4x20xf32>
// CHECK-NEXT:      %[[CONVERT_1:.*]] = xla.convert %y : (tensor<20x3xf32>) -> tensor<20x3xcomplex<f32>>
// CHECK-NEXT:      %[[REAL_1:.*]] = xla.real %[[CONVERT_1]] : (tensor<20x3xcomplex<f32>>) -> tensor<20x3xf32>
// CHECK-NEXT:      %[[IMAG_1:.*]] = xla.imag %[[CONVERT_1]] : (tensor<20x3xcomplex<f32>>) -> tensor<20x3xf32>
// CHECK-NEXT:      %[[DOT:.*]] = xla.dot %[[REAL]], %[[REAL_1]] {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x20xf32>, tensor<20x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:      %[[DOT_1:.*]] = xla.dot %[[IMAG]], %[[IMAG_1]] {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x20xf32>, tensor<20x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:      %[[SUBTRACT:.*]] = xla.subtract %[[DOT]], %[[DOT_1]] : tensor<4x3xf32>
// CHECK-NEXT:      %[[DOT_2:.*]] = xla.dot %[[REAL]], %[[IMAG_1]] {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x20xf32>, tensor<20x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:      %[[DOT_3:.*]] = xla.dot %[[IMAG]], %[[REAL_1]] {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x20xf32>, tensor<20x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:      %[[ADD:.*]] = xla.add %[[DOT_2]], %[[DOT_3]] : tensor<4x3xf32>
// CHECK-NEXT:      %[[COMPLEX:.*]] = xla.complex %[[SUBTRACT]], %[[ADD]] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xcomplex<f32>>
// CHECK-NEXT:      %[[CONVERT_2:.*]] = xla.convert %[[COMPLEX]] : tensor<4x3xcomplex<f32>>
// CHECK-NEXT:      func.return %[[CONVERT_2]] : tensor<4x3xcomplex<f32>>
// CHECK-NEXT:    }
func.func @dot(%x: tensor<4x20xcomplex<f32>>, %y: tensor<20x3xf32>) -> tensor<4x3xcomplex<f32>> {
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x20xcomplex<f32>>, tensor<20x3xf32>) -> tensor<4x3xcomplex<f32>>
  func.return %0 : tensor<4x3xcomplex<f32>>
}
