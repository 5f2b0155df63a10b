// RUN: xla-run %s --all-functions --backend reference

// One of several computations; the last one if the index is out of range.

func.func @worked() {
  %i0 = xla.constant dense<0> : tensor<i32>
  %r0 = xla.conditional %i0 : (tensor<i32>) -> tensor<i32> branch () {
    %r = xla.constant dense<10> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<20> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<30> : tensor<i32>
    xla.return %r : tensor<i32>
  }
  check.expect_eq_const %r0, dense<10> : tensor<i32>
  %i1 = xla.constant dense<1> : tensor<i32>
  %r1 = xla.conditional %i1 : (tensor<i32>) -> tensor<i32> branch () {
    %r = xla.constant dense<10> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<20> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<30> : tensor<i32>
    xla.return %r : tensor<i32>
  }
  check.expect_eq_const %r1, dense<20> : tensor<i32>
  %i2 = xla.constant dense<2> : tensor<i32>
  %r2 = xla.conditional %i2 : (tensor<i32>) -> tensor<i32> branch () {
    %r = xla.constant dense<10> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<20> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<30> : tensor<i32>
    xla.return %r : tensor<i32>
  }
  check.expect_eq_const %r2, dense<30> : tensor<i32>
  %i3 = xla.constant dense<3> : tensor<i32>
  %r3 = xla.conditional %i3 : (tensor<i32>) -> tensor<i32> branch () {
    %r = xla.constant dense<10> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<20> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<30> : tensor<i32>
    xla.return %r : tensor<i32>
  }
  check.expect_eq_const %r3, dense<30> : tensor<i32>
  %i4 = xla.constant dense<-1> : tensor<i32>
  %r4 = xla.conditional %i4 : (tensor<i32>) -> tensor<i32> branch () {
    %r = xla.constant dense<10> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<20> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<30> : tensor<i32>
    xla.return %r : tensor<i32>
  }
  check.expect_eq_const %r4, dense<30> : tensor<i32>
  %i5 = xla.constant dense<-2147483648> : tensor<i32>
  %r5 = xla.conditional %i5 : (tensor<i32>) -> tensor<i32> branch () {
    %r = xla.constant dense<10> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<20> : tensor<i32>
    xla.return %r : tensor<i32>
  } branch () {
    %r = xla.constant dense<30> : tensor<i32>
    xla.return %r : tensor<i32>
  }
  check.expect_eq_const %r5, dense<30> : tensor<i32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<5xi32>, tensor<5xi32>) {
  %0 = xla.constant dense<[0, 1, -1, 2, 100]> : tensor<5xi64>
  %x = xla.convert %0 : (tensor<5xi64>) -> tensor<5xi32>
  %true = xla.constant dense<true> : tensor<i1>
  %yes = xla.conditional %true, %x, %x : (tensor<i1>, tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32> branch (%a: tensor<5xi32>) {
    %b = xla.add %a, %a : tensor<5xi32>
    xla.return %b : tensor<5xi32>
  } branch (%a: tensor<5xi32>) {
    xla.return %a : tensor<5xi32>
  }
  %false = xla.constant dense<false> : tensor<i1>
  %no = xla.conditional %false, %x, %x : (tensor<i1>, tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32> branch (%a: tensor<5xi32>) {
    %b = xla.add %a, %a : tensor<5xi32>
    xla.return %b : tensor<5xi32>
  } branch (%a: tensor<5xi32>) {
    xla.return %a : tensor<5xi32>
  }
  func.return %yes, %no : tensor<5xi32>, tensor<5xi32>
}

// Operands of different types, two results, and a value from around.
func.func @operands() -> (tensor<2xf32>, tensor<i32>) {
  %index = xla.constant dense<1> : tensor<i32>
  %x = xla.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %y = xla.constant dense<[[3, 4]]> : tensor<1x2xi32>
  %outside = xla.constant dense<7> : tensor<i32>
  %0:2 = xla.conditional %index, %x, %y : (tensor<i32>, tensor<2xf32>, tensor<1x2xi32>) -> (tensor<2xf32>, tensor<i32>) branch (%a: tensor<2xf32>) {
    xla.return %a, %outside : tensor<2xf32>, tensor<i32>
  } branch (%a: tensor<1x2xi32>) {
    %b = xla.reshape %a : (tensor<1x2xi32>) -> tensor<2xi32>
    %c = xla.convert %b : (tensor<2xi32>) -> tensor<2xf32>
    %d = xla.add %outside, %outside : tensor<i32>
    xla.return %c, %d : tensor<2xf32>, tensor<i32>
  }
  check.expect_eq_const %0#0, dense<[3.0, 4.0]> : tensor<2xf32>
  check.expect_eq_const %0#1, dense<14> : tensor<i32>
  func.return %0#0, %0#1 : tensor<2xf32>, tensor<i32>
}

func.func @column_major() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %true = xla.constant dense<true> : tensor<i1>
  %0 = xla.conditional %true, %x, %x : (tensor<i1>, tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<2x3xi32, #xla.layout<{0,1}>> branch (%a: tensor<2x3xi32, #xla.layout<{0,1}>>) {
    %b = xla.negate %a : tensor<2x3xi32, #xla.layout<{0,1}>>
    xla.return %b : tensor<2x3xi32, #xla.layout<{0,1}>>
  } branch (%a: tensor<2x3xi32, #xla.layout<{0,1}>>) {
    xla.return %a : tensor<2x3xi32, #xla.layout<{0,1}>>
  }
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

// One branch, and arrays without elements.
func.func @sizes() -> (tensor<i32>, tensor<0xf32>) {
  %index = xla.constant dense<5> : tensor<i32>
  %one = xla.conditional %index, %index : (tensor<i32>, tensor<i32>) -> tensor<i32> branch (%a: tensor<i32>) {
    xla.return %a : tensor<i32>
  }
  %nothing = xla.constant dense<> : tensor<0xf32>
  %empty = xla.conditional %index, %nothing, %nothing : (tensor<i32>, tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32> branch (%a: tensor<0xf32>) {
    xla.return %a : tensor<0xf32>
  } branch (%a: tensor<0xf32>) {
    %b = xla.negate %a : tensor<0xf32>
    xla.return %b : tensor<0xf32>
  }
  func.return %one, %empty : tensor<i32>, tensor<0xf32>
}
