// RUN: xla-run %s --all-functions --backend reference

// A computation that runs by itself, is asked after once or twice, and ends where it is waited for.

func.func @worked() {
  %x = xla.constant dense<[1.0, -2.5]> : tensor<2xf32>
  %s = xla.async_start %x : (tensor<2xf32>) -> tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i64>> calls (%a: tensor<2xf32>) {
    %b = xla.negate %a : tensor<2xf32>
    xla.return %b : tensor<2xf32>
  }
  %u = xla.async_update %s : tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i64>>
  %0 = xla.async_done %u : (tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i64>>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[-1.0, 2.5]> : tensor<2xf32>
  func.return
}

// for i32 in types
func.func @types() -> tensor<3xi32> {
  %values = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %x = xla.convert %values : (tensor<3xi64>) -> tensor<3xi32>
  %s = xla.async_start %x : (tensor<3xi32>) -> tuple<tuple<tensor<3xi32>>, tensor<3xi32>, tensor<i64>> calls (%a: tensor<3xi32>) {
    %b = xla.add %a, %a : tensor<3xi32>
    xla.return %b : tensor<3xi32>
  }
  %0 = xla.async_done %s : (tuple<tuple<tensor<3xi32>>, tensor<3xi32>, tensor<i64>>) -> tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

func.func @column_major() -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1.0, 2.0, 3.0], [-0.0, 0x7FC00000, 6.0]]> : tensor<2x3xf32, #xla.layout<{0,1}>>
  %s = xla.async_start %x : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tuple<tuple<tensor<2x3xf32, #xla.layout<{0,1}>>>, tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<i64>> calls (%a: tensor<2x3xf32, #xla.layout<{0,1}>>) {
    %b = xla.negate %a : tensor<2x3xf32, #xla.layout<{0,1}>>
    xla.return %b : tensor<2x3xf32, #xla.layout<{0,1}>>
  }
  %u = xla.async_update %s : tuple<tuple<tensor<2x3xf32, #xla.layout<{0,1}>>>, tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<i64>>
  %0 = xla.async_done %u : (tuple<tuple<tensor<2x3xf32, #xla.layout<{0,1}>>>, tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<i64>>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xf32, #xla.layout<{0,1}>>
}

func.func @sizes() -> tensor<0x3xf32> {
  %x = xla.constant dense<> : tensor<0x3xf32>
  %s = xla.async_start %x : (tensor<0x3xf32>) -> tuple<tuple<tensor<0x3xf32>>, tensor<0x3xf32>, tensor<i64>> calls (%a: tensor<0x3xf32>) {
    %b = xla.negate %a : tensor<0x3xf32>
    xla.return %b : tensor<0x3xf32>
  }
  %0 = xla.async_done %s : (tuple<tuple<tensor<0x3xf32>>, tensor<0x3xf32>, tensor<i64>>) -> tensor<0x3xf32>
  func.return %0 : tensor<0x3xf32>
}
