// RUN: not xla-opt %s -p xla-bufferize 2>&1 | filecheck %s

// What is said of shared memory has to make sense.

// CHECK:      func.func: 3, {{.*}}:9:1 (tf.aliasing_output of argument 1 is 1, of 1 results),
// CHECK-SAME:   {{.*}}:13:1 (tf.aliasing_output is 0 for arguments 0 and 1),
// CHECK-SAME:   {{.*}}:17:1 (tf.aliasing_output of argument 0 is "0", not a result's number)

func.func @out_of_range(%a: tensor<4xf32>, %b: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

func.func @twice(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

func.func @no_number(%a: tensor<4xf32> {tf.aliasing_output = "0"}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
