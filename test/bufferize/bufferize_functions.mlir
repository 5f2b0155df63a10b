// RUN: xla-opt %s --split-input-file -p xla-bufferize | filecheck %s

// Results are computed where the caller wants them; what is returned twice, or is an input or a
// constant, is copied. Attributes of arguments and results follow them.

// CHECK:       "memref.global"() <{sym_name = "constant_0", sym_visibility = "private", type = memref<2xi32>, initial_value = dense<[1, 2]> : tensor<2xi32>, constant, alignment = 64 : i64}> : () -> ()
// CHECK-NEXT:  func.func @returns(%a: memref<4xf32> {a.name = "a"}, %result: memref<4xf32> {b.name = "b"}, %result_1: memref<4xf32>, %result_2: memref<2xi32>, %result_3: memref<4xf32>) attributes {kept = 1 : i64, xla.entry} {
// CHECK-NEXT:    %c = memref.get_global @constant_0 : memref<2xi32>
// CHECK-NEXT:    linalg.exp ins(%a : memref<4xf32>) outs(%result : memref<4xf32>)
// CHECK-NEXT:    "memref.copy"(%result, %result_1)
// CHECK-NEXT:    "memref.copy"(%c, %result_2)
// CHECK-NEXT:    "memref.copy"(%a, %result_3)
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
func.func @returns(%a: tensor<4xf32> {a.name = "a"}) -> (tensor<4xf32> {b.name = "b"}, tensor<4xf32>, tensor<2xi32>, tensor<4xf32>) attributes {kept = 1 : i64} {
  %c = arith.constant dense<[1, 2]> : tensor<2xi32>
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b, %b, %c, %a : tensor<4xf32>, tensor<4xf32>, tensor<2xi32>, tensor<4xf32>
}

// -----

// A reshape before the return does not keep its operand from being computed in the result.

// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME:    %a: memref<6xf32>, %result: memref<2x3xf32>)
// CHECK-NEXT:    %b = memref.collapse_shape %result {{.*}} : memref<2x3xf32> into memref<6xf32>
// CHECK-NEXT:    linalg.exp ins(%a : memref<6xf32>) outs(%b : memref<6xf32>)
// CHECK-NOT:     memref.copy
// CHECK:         func.return
func.func @reshaped(%a: tensor<6xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %b = linalg.exp ins(%a : tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %c = tensor.expand_shape %b [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}

// -----

// Calls pass memory for the results; a strided argument is made dense for them. Scalars stay, and
// private functions are no entries.

// CHECK-LABEL: func.func private @callee(%a: memref<2xf32>, %s: f32, %result: memref<2xf32>) -> f32 {
// CHECK-NEXT:    "memref.copy"(%a, %result)
// CHECK-NEXT:    func.return %s : f32
func.func private @callee(%a: tensor<2xf32>, %s: f32) -> (tensor<2xf32>, f32) {
  return %a, %s : tensor<2xf32>, f32
}

// CHECK:       func.func private @elsewhere(memref<2xf32>, memref<2xf32>)
func.func private @elsewhere(tensor<2xf32>) -> tensor<2xf32>

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %a: memref<4xf32>, %s: f32, %result: memref<2xf32>) attributes {xla.entry} {
// CHECK-NEXT:    %b = memref.subview %a[1] [2] [2]
// CHECK-NEXT:    %[[DENSE:.*]] = memref.alloc() : memref<2xf32>
// CHECK-NEXT:    "memref.copy"(%b, %[[DENSE]])
// CHECK-NEXT:    %c = memref.alloc() : memref<2xf32>
// CHECK-NEXT:    %t = func.call @callee(%[[DENSE]], %s, %c) : (memref<2xf32>, f32, memref<2xf32>) -> f32
// CHECK-NEXT:    func.call @elsewhere(%c, %result) : (memref<2xf32>, memref<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @caller(%a: tensor<4xf32>, %s: f32) -> tensor<2xf32> {
  %b = tensor.extract_slice %a[1][2][2] : tensor<4xf32> to tensor<2xf32>
  %c, %t = call @callee(%b, %s) : (tensor<2xf32>, f32) -> (tensor<2xf32>, f32)
  %d = call @elsewhere(%c) : (tensor<2xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// -----

// Equal constants are stored once; large ones of equal elements are not stored, but filled in.

// CHECK:       "memref.global"() <{sym_name = "constant_0", {{.*}} initial_value = dense<[1.500000e+00, 2.500000e+00]>
// CHECK-NEXT:  "memref.global"() <{sym_name = "constant_1", {{.*}} type = memref<i1>, initial_value = dense<true>
// CHECK-NEXT:  "memref.global"() <{sym_name = "constant_2", {{.*}} type = memref<0x3xf32>
// CHECK-NEXT:  func.func @constants(
// CHECK-NEXT:    %a = memref.get_global @constant_0 : memref<2xf32>
// CHECK-NEXT:    %b = memref.get_global @constant_0 : memref<2xf32>
// CHECK-NEXT:    %c = memref.get_global @constant_1 : memref<i1>
// CHECK-NEXT:    %d = memref.get_global @constant_2 : memref<0x3xf32>
// CHECK-NEXT:    %[[ELEMENT:.*]] = arith.constant -7 : i16
// CHECK-NEXT:    linalg.fill ins(%[[ELEMENT]] : i16) outs(%result_4 : memref<100x100xi16>)
func.func @constants() -> (tensor<2xf32>, tensor<2xf32>, tensor<i1>, tensor<0x3xf32>, tensor<100x100xi16>) {
  %a = arith.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %b = arith.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %c = arith.constant dense<true> : tensor<i1>
  %d = arith.constant dense<> : tensor<0x3xf32>
  %e = arith.constant dense<-7> : tensor<100x100xi16>
  return %a, %b, %c, %d, %e : tensor<2xf32>, tensor<2xf32>, tensor<i1>, tensor<0x3xf32>, tensor<100x100xi16>
}

// -----

// A result in the memory of a parameter is that parameter, from the first operation on. A donor is
// for the first result of its type that is left; other types share nothing.

// CHECK-LABEL: func.func @aliased(
// CHECK-SAME:    %a: memref<4xf32>, %b: memref<4xf32>, %c: memref<2xf32>, %result: memref<4xf32> {a.name = "r", xla.aliased_parameter = 1 : i64}, %result_1: memref<4xf32> {xla.aliased_parameter = 0 : i64}) attributes {xla.entry} {
// CHECK-NEXT:    %d = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    linalg.add ins(%result_1, %result : memref<4xf32>, memref<4xf32>) outs(%d : memref<4xf32>)
// CHECK-NEXT:    linalg.exp ins(%result : memref<4xf32>) outs(%result_1 : memref<4xf32>)
// CHECK-NEXT:    "memref.copy"(%d, %result)
// CHECK-NEXT:    func.return
func.func @aliased(%a: tensor<4xf32> {jax.buffer_donor = true}, %b: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %c: tensor<2xf32> {jax.buffer_donor = true}) -> (tensor<4xf32> {a.name = "r"}, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %d = linalg.add ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = linalg.exp ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %d, %f : tensor<4xf32>, tensor<4xf32>
}

// -----

// A slice is put into a parameter that is given away where it is, in a loop too.

// CHECK-LABEL: func.func @updated(
// CHECK-SAME:    %a: memref<8xf32>, %b: memref<1xf32>, %result: memref<8xf32> {xla.aliased_parameter = 0 : i64}) attributes {xla.entry} {
// CHECK-NOT:     alloc
// CHECK:         scf.for %i =
// CHECK-NEXT:      %[[PLACE:.*]] = memref.subview %result[%i] [1] [1]
// CHECK-NEXT:      "memref.copy"(%b, %[[PLACE]])
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @updated(%a: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<1xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a) -> (tensor<8xf32>) {
    %y = tensor.insert_slice %b into %x[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Calls inside of a module know nothing of what callers outside give away.

// CHECK-LABEL: func.func @called(
// CHECK-SAME:    %a: memref<4xf32>, %result: memref<4xf32>) attributes {xla.entry} {
func.func @called(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

func.func @calling(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = func.call @called(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// What is called knows nothing of the strides of arguments and results.

// CHECK-LABEL: func.func @strided(
// CHECK:         %[[DENSE:.*]] = memref.alloc() : memref<2x3xf32>
// CHECK:         "memref.copy"
// CHECK:         %[[RESULT:.*]] = memref.alloc() : memref<2x3xf32>
// CHECK-NEXT:    func.call @outside(%[[DENSE]], %[[RESULT]]) : (memref<2x3xf32>, memref<2x3xf32>) -> ()
// CHECK:         "memref.copy"
// CHECK-NEXT:    func.return
func.func private @outside(tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @strided(%a: tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 2]>}) -> (tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 2]>}) {
  %r = func.call @outside(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// A private function may put a result where a parameter is, too: for callers that use that no more
// it is the same memory, others hand over a copy.

// CHECK-LABEL: func.func private @step(
// CHECK-SAME:    %a: memref<4xf32>, %x: f32, %result: memref<4xf32> {xla.aliased_parameter = 0 : i64}) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    memref.store %x, %result[%c1] : memref<4xf32>
// CHECK-NEXT:    func.return
func.func private @step(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %x: f32) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %b = tensor.insert %x into %a[%c1] : tensor<4xf32>
  return %b : tensor<4xf32>
}

// CHECK-LABEL: func.func @steps(
// CHECK-SAME:    %a: memref<4xf32>, %b: memref<4xf32>, %x: f32, %result: memref<4xf32> {xla.aliased_parameter = 0 : i64}, %result_1: memref<4xf32>)
// CHECK-NEXT:    func.call @step(%result, %x, %result) : (memref<4xf32>, f32, memref<4xf32>) -> ()
// CHECK-NEXT:    "memref.copy"(%b, %result_1)
// CHECK-NEXT:    func.call @step(%b, %x, %result_1) : (memref<4xf32>, f32, memref<4xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @steps(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>, %x: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = func.call @step(%a, %x) : (tensor<4xf32>, f32) -> tensor<4xf32>
  %d = func.call @step(%b, %x) : (tensor<4xf32>, f32) -> tensor<4xf32>
  return %c, %d : tensor<4xf32>, tensor<4xf32>
}
