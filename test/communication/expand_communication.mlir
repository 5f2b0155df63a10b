// RUN: xla-opt %s -p xla-flatten-tuples,xla-expand-communication --split-input-file | filecheck %s

// What members bring is stacked, and folded from the first to the last that there is.
module attributes {xla.replica_count = 4 : i64} {
  func.func @reduce(%x: tensor<3xf32>) -> tensor<3xf32> {
    %y = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0},{1,2,3}}>} : tensor<3xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %c = xla.add %a, %b : tensor<f32>
        xla.return %c : tensor<f32>
      }
    func.return %y : tensor<3xf32>
  }
}
// CHECK-LABEL: @reduce
// CHECK: %0, %1 = xla.custom_call %x {custom_call_target = "xla.all_reduce", custom_call_has_side_effect = true} attributes {site = 0 : i64, replica_groups = "{{[{]}}{0},{1,2,3}}"} : (tensor<3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
// CHECK-NOT: xla.while
// CHECK: [[TWO:%.*]] = xla.map
// CHECK-NEXT: xla.add %a, %b
// CHECK: [[IS_THERE:%.*]] = xla.compare %{{.*}}, %{{.*}} {direction = GT}
// CHECK: [[SECOND:%.*]] = xla.select [[IS_THERE]], [[TWO]], %{{.*}}
// CHECK: xla.map [[SECOND]]
// CHECK: [[LAST:%.*]] = xla.select
// CHECK: func.return [[LAST]]

// -----

// More than eight are folded in a loop.
module attributes {xla.replica_count = 9 : i64} {
  func.func @reduce_many(%x: tensor<3xf32>) -> tensor<3xf32> {
    %y = xla.all_reduce %x : tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
      %c = xla.add %a, %b : tensor<f32>
      xla.return %c : tensor<f32>
    }
    func.return %y : tensor<3xf32>
  }
}
// CHECK-LABEL: @reduce_many
// CHECK: (tensor<3xf32>) -> (tensor<9x3xf32>, tensor<i32>)
// CHECK: xla.while
// CHECK: xla.compare %number, %1 {direction = LT}
// CHECK: xla.map
// CHECK-NEXT: xla.add %a, %b

// -----

// Of a large operand each member folds a piece; the pieces of the smaller of two groups are so long
// that its members have all of it.
module attributes {xla.replica_count = 5 : i64} {
  func.func @reduce_large(%x: tensor<100x200xf32>, %s: tensor<f32>) -> (tensor<100x200xf32>, tensor<f32>) {
    %y, %t = xla.all_reduce %x, %s {replica_groups = #xla.replica_groups<{{0,1},{2,3,4}}>} : (tensor<100x200xf32>, tensor<f32>) -> (tensor<100x200xf32>, tensor<f32>)
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %c = xla.maximum %a, %b : tensor<f32>
        xla.return %c : tensor<f32>
      }
    func.return %y, %t : tensor<100x200xf32>, tensor<f32>
  }
}
// CHECK-LABEL: @reduce_large
// CHECK: xla.custom_call %x, %s {custom_call_target = "xla.all_reduce", {{.*}} (tensor<100x200xf32>, tensor<f32>) -> (tensor<3x10048xf32>, tensor<3xf32>, tensor<i32>)
// CHECK: xla.map {{.*}} : tensor<10048xf32>
// CHECK: [[TWO:%.*]] = xla.select {{.*}} (tensor<i1>, tensor<10048xf32>, tensor<10048xf32>)
// CHECK: [[LONG:%.*]] = xla.select {{.*}}, [[TWO]] : (tensor<i1>, tensor<10048xf32>, tensor<10048xf32>)
// CHECK: %t = xla.select
// CHECK-NEXT: %y = xla.custom_call [[LONG]] {custom_call_target = "xla.all_reduce_of_pieces", {{.*}}replica_groups = {{.*}} : (tensor<10048xf32>) -> tensor<100x200xf32>
// CHECK-NEXT: func.return %y, %t

// -----

// The start gives a number, also through a loop; tokens are gone.
func.func @receive(%n: tensor<i32>) -> tensor<2xf32> {
  %t = xla.after_all : !xla.token
  %c:3 = xla.recv %t {channel_id = 1 : i64} : (!xla.token) -> (tensor<2xf32>, tensor<ui32>, !xla.token)
  %l:4 = xla.while %n, %c#0, %c#1, %c#2 : (tensor<i32>, tensor<2xf32>, tensor<ui32>, !xla.token) -> (tensor<i32>, tensor<2xf32>, tensor<ui32>, !xla.token) condition (%i: tensor<i32>, %d: tensor<2xf32>, %u: tensor<ui32>, %k: !xla.token) {
    %z = xla.constant dense<0> : tensor<i32>
    %p = xla.compare %i, %z {direction = GT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %p : tensor<i1>
  } body (%i: tensor<i32>, %d: tensor<2xf32>, %u: tensor<ui32>, %k: !xla.token) {
    %one = xla.constant dense<1> : tensor<i32>
    %j = xla.subtract %i, %one : tensor<i32>
    xla.return %j, %d, %u, %k : tensor<i32>, tensor<2xf32>, tensor<ui32>, !xla.token
  }
  %r:2 = xla.recv_done %l#1, %l#2, %l#3 {channel_id = 1 : i64} : (tensor<2xf32>, tensor<ui32>, !xla.token) -> (tensor<2xf32>, !xla.token)
  func.return %r#0 : tensor<2xf32>
}
// CHECK-LABEL: @receive
// CHECK-NEXT: %c = xla.custom_call {custom_call_target = "xla.recv", custom_call_has_side_effect = true} attributes {site = 0 : i64, channel_id = 1 : i64} : tensor<ui64>
// CHECK: xla.while %n, %c, %c_1 : (tensor<i32>, tensor<ui64>, tensor<ui32>) ->
// CHECK: %r = xla.custom_call %l_1 {custom_call_target = "xla.recv_done", custom_call_has_side_effect = true} attributes {site = 1 : i64, channel_id = 1 : i64} : (tensor<ui64>) -> tensor<2xf32>
// CHECK-NEXT: func.return %r

// -----

// A collective that an asynchronous computation consists of begins at its start; another computation
// is computed there.
func.func @asynchronous(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a:3 = xla.async_start %x : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<i32>) calls (%p: tensor<2xf32>) {
    %r = xla.all_to_all %p {dimension = 0 : i64, replica_groups = #xla.replica_groups<{{0,1}}>} : tensor<2xf32>
    xla.return %r : tensor<2xf32>
  }
  %b:3 = xla.async_start %x : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<i32>) calls (%p: tensor<2xf32>) {
    %r = xla.negate %p : tensor<2xf32>
    xla.return %r : tensor<2xf32>
  }
  %c = xla.async_done %a#0, %a#1, %a#2 : (tensor<2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  %d = xla.async_done %b#0, %b#1, %b#2 : (tensor<2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  func.return %c, %d : tensor<2xf32>, tensor<2xf32>
}
// CHECK-LABEL: @asynchronous
// CHECK-NEXT: %a = xla.custom_call %x {custom_call_target = "xla.all_to_all_start"
// CHECK: %r = xla.negate %x
// CHECK: %c = xla.custom_call %a {custom_call_target = "xla.async_done"
// CHECK-NEXT: func.return %c, %r

// -----

// What only orders other operations is nothing; outfeeds take arrays.
func.func @feeds(%x: tensor<2xf32>, %t: !xla.token) -> (tensor<i32>, !xla.token) {
  %i:2 = xla.infeed %t : (!xla.token) -> (tensor<i32>, !xla.token)
  %u = xla.after_all %t, %i#1 : (!xla.token, !xla.token) -> !xla.token
  %y = xla.add_dependency %x, %u : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  %o = xla.outfeed %y, %u : (tensor<2xf32>, !xla.token) -> !xla.token
  func.return %i#0, %o : tensor<i32>, !xla.token
}
// CHECK-LABEL: func.func @feeds(%x: tensor<2xf32>) -> tensor<i32> {
// CHECK-NEXT: %i = xla.custom_call {custom_call_target = "xla.infeed", custom_call_has_side_effect = true} attributes {site = 0 : i64} : tensor<i32>
// CHECK-NEXT: xla.custom_call %x {custom_call_target = "xla.outfeed", custom_call_has_side_effect = true} attributes {site = 1 : i64} : (tensor<2xf32>) -> ()
// CHECK-NEXT: func.return %i : tensor<i32>

// -----

// The function of a custom call gets its tokens nonetheless; what tokens ordered has an effect.
// The result that a parameter names is counted without tokens.
func.func @custom_calls(%x: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %t: !xla.token) -> (!xla.token, tensor<2xf32>) {
  %a:2 = xla.custom_call %x, %t {custom_call_target = "f"} : (tensor<2xf32>, !xla.token) -> (!xla.token, tensor<i32>)
  %b = xla.custom_call %x {custom_call_target = "f"} : (tensor<2xf32>) -> tensor<i32>
  func.return %a#0, %x : !xla.token, tensor<2xf32>
}
// CHECK-LABEL: func.func @custom_calls(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
// CHECK-NEXT: %a = xla.custom_call %x {custom_call_target = "f", custom_call_has_side_effect = true} attributes {xla.token_operands = array<i64: 1>, xla.token_results = array<i64: 0>} : (tensor<2xf32>) -> tensor<i32>
// CHECK-NEXT: %b = xla.custom_call %x {custom_call_target = "f"} : (tensor<2xf32>) -> tensor<i32>
