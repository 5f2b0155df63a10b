// RUN: xla-opt %s -p 'native{to=tensors}' | filecheck %s --check-prefix=TENSORS
// RUN: xla-opt %s -p 'native{to=buffers}' | filecheck %s --check-prefix=BUFFERS
// RUN: xla-opt %s -p native -t llvm | filecheck %s --check-prefix=LLVM

func.func @main(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = xla.custom_call %x {custom_call_target = "f"} : (tensor<4xui8>) -> tensor<4xui8>
  func.return %0 : tensor<4xui8>
}

// What is called is declared, with the types as XLA knows them.
// TENSORS: func.func @main(%x: tensor<4xi8>) -> tensor<4xi8>
// TENSORS: func.call @custom_call_f(%x) : (tensor<4xi8>) -> tensor<4xi8>
// TENSORS: func.func private @custom_call_f(tensor<4xi8>) -> tensor<4xi8> attributes {custom_call = {custom_call_target = "f", operand_types = [tensor<4xui8>], result_types = [tensor<4xui8>], attributes = {}}}

// BUFFERS: func.call @custom_call_f(%x, %result) : (memref<4xi8>, memref<4xi8>) -> ()
// BUFFERS: func.func private @custom_call_f(memref<4xi8>, memref<4xi8>)

// LLVM: call i32 @custom_call_f(ptr
// LLVM: declare i32 @custom_call_f(ptr, ptr)
