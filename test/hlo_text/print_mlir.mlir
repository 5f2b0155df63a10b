// RUN: xla-opt %s --split-input-file -t hlo | filecheck %s
// RUN: not xla-opt %s -t 'hlo{form=long}' 2>&1 | filecheck %s --check-prefix=FORM

// FORM: xla-opt: error: hlo: form is one of default, short, canonical; found 'long'

// Loops and branches take one operand, their regions become computations before them.

// CHECK:      HloModule module, entry_computation_layout={(f32[4]{0}, s32[])->(s32[], f32[4]{0})}
// CHECK:      %while_body (arg_tuple: (s32[], f32[4])) -> (s32[], f32[4]) {
// CHECK-NEXT:   %arg_tuple = (s32[], f32[4]{0}) parameter(0)
// CHECK-NEXT:   %c = s32[] get-tuple-element(%arg_tuple), index=0
// CHECK-NEXT:   %constant = s32[] constant(1)
// CHECK-NEXT:   %d = s32[] add(%c, %constant)
// CHECK-NEXT:   %y = f32[4]{0} get-tuple-element(%arg_tuple), index=1
// CHECK-NEXT:   %z = f32[4]{0} multiply(%y, %y)
// CHECK-NEXT:   ROOT %tuple = (s32[], f32[4]{0}) tuple(%d, %z)
// CHECK-NEXT: }
// CHECK:      ENTRY %main (x: f32[4], n: s32[]) -> (s32[], f32[4]) {
// CHECK-NEXT:   %x = f32[4]{0} parameter(0)
// CHECK-NEXT:   %n = s32[] parameter(1)
// CHECK-NEXT:   %one = s32[] constant(1)
// CHECK-NEXT:   %tuple = (s32[], f32[4]{0}) tuple(%n, %x)
// CHECK-NEXT:   ROOT %w = (s32[], f32[4]{0}) while(%tuple), condition=%while_condition, body=%while_body
// CHECK-NEXT: }
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<i32>, tensor<4xf32>) {
  %one = xla.constant dense<1> : tensor<i32>
  %w, %v = xla.while %n, %x : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
    condition (%c: tensor<i32>, %y: tensor<4xf32>) {
      %p = xla.compare %c, %one {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      xla.return %p : tensor<i1>
    } body (%c: tensor<i32>, %y: tensor<4xf32>) {
      %d = xla.add %c, %one : tensor<i32>
      %z = xla.multiply %y, %y : tensor<4xf32>
      xla.return %d, %z : tensor<i32>, tensor<4xf32>
    }
  func.return %w, %v : tensor<i32>, tensor<4xf32>
}

// -----

// Tokens; an outfeed takes one item.

// CHECK:      ENTRY %main
// CHECK:        %token_ = token[] after-all()
// CHECK-NEXT:   %tuple = (f32[2]{0}, s32[]) tuple(%x, %n)
// CHECK-NEXT:   ROOT %done = token[] outfeed(%tuple, %token_), outfeed_config="c"
func.func @main(%x: tensor<2xf32>, %n: tensor<i32>) -> !xla.token {
  %token = xla.after_all : () -> !xla.token
  %done = xla.outfeed %x, %n, %token {outfeed_config = "c"} : (tensor<2xf32>, tensor<i32>, !xla.token) -> !xla.token
  func.return %done : !xla.token
}
