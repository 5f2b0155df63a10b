// RUN: xla-run %s --all-functions --backend reference

// The size of a dimension: known beforehand, or set.

func.func @worked() {
  %x = xla.iota {iota_dimension = 0} : tensor<10xf32>
  %static = xla.get_dimension_size %x {dimension = 0} : (tensor<10xf32>) -> tensor<i32>
  check.expect_eq_const %static, dense<10> : tensor<i32>
  %five = xla.constant dense<5> : tensor<i32>
  %part = xla.set_dimension_size %x, %five {dimension = 0} : (tensor<10xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [10]>>
  %dynamic = xla.get_dimension_size %part {dimension = 0} : (tensor<?xf32, #xla.layout<{0}, bounds = [10]>>) -> tensor<i32>
  check.expect_eq_const %dynamic, dense<5> : tensor<i32>
  func.return
}

// for f32 in types
func.func @types() -> (tensor<i32>, tensor<i32>) {
  %0 = xla.constant dense<[[1, 0, 1, 1, 1]]> : tensor<1x5xi64>
  %x = xla.convert %0 : (tensor<1x5xi64>) -> tensor<1x5xf32>
  %rows = xla.get_dimension_size %x {dimension = 0} : (tensor<1x5xf32>) -> tensor<i32>
  %columns = xla.get_dimension_size %x {dimension = 1} : (tensor<1x5xf32>) -> tensor<i32>
  func.return %rows, %columns : tensor<i32>, tensor<i32>
}

func.func @empty() -> tensor<i32> {
  %x = xla.constant dense<> : tensor<0x3xf32, #xla.layout<{0,1}>>
  %0 = xla.get_dimension_size %x {dimension = 0} : (tensor<0x3xf32, #xla.layout<{0,1}>>) -> tensor<i32>
  check.expect_eq_const %0, dense<0> : tensor<i32>
  func.return %0 : tensor<i32>
}
