// RUN: xla-run %s --all-functions --backend reference

// Random bits, which the state determines: the streams of XLA's CPU backend, bit by bit.

func.func @worked_three_fry() {
  %words.state = xla.constant dense<[1, 0]> : tensor<2xui64>
  %words.next, %words = xla.rng_bit_generator %words.state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  check.expect_eq_const %words, dense<[3023415290, 2531993477, 247883890, 763684785]> : tensor<4xui32>
  check.expect_eq_const %words.next, dense<[1, 2]> : tensor<2xui64>
  %rows.state = xla.constant dense<[1, 0]> : tensor<2xui64>
  %rows.next, %rows = xla.rng_bit_generator %rows.state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
  check.expect_eq_const %rows, dense<[[3023415290, 247883890, 43444564], [2531993477, 763684785, 2150618427]]> : tensor<2x3xui32>
  check.expect_eq_const %rows.next, dense<[1, 3]> : tensor<2xui64>
  %odd.state = xla.constant dense<[1, 0]> : tensor<2xui64>
  %odd.next, %odd = xla.rng_bit_generator %odd.state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x3xui32>)
  check.expect_eq_const %odd, dense<[[3023415290, 247883890, 43444564], [2531993477, 763684785, 2150618427], [3979645651, 1672743891, 2109414752]]> : tensor<3x3xui32>
  check.expect_eq_const %odd.next, dense<[1, 6]> : tensor<2xui64>
  %long.state = xla.constant dense<[1, 0]> : tensor<2xui64>
  %long.next, %long = xla.rng_bit_generator %long.state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui64>)
  check.expect_eq_const %long, dense<[10874829180423743482, 3280001176275675250]> : tensor<2xui64>
  check.expect_eq_const %long.next, dense<[1, 2]> : tensor<2xui64>
  %short.state = xla.constant dense<[1, 0]> : tensor<2xui64>
  %short.next, %short = xla.rng_bit_generator %short.state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui16>)
  check.expect_eq_const %short, dense<[43002, 10117]> : tensor<2xui16>
  check.expect_eq_const %short.next, dense<[1, 1]> : tensor<2xui64>
  %wrapped.state = xla.constant dense<[0, 18446744073709551615]> : tensor<2xui64>
  %wrapped.next, %wrapped = xla.rng_bit_generator %wrapped.state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  check.expect_eq_const %wrapped, dense<[145227835, 1976240827, 1797259609, 2579123966]> : tensor<4xui32>
  check.expect_eq_const %wrapped.next, dense<[0, 1]> : tensor<2xui64>
  %bytes.state = xla.constant dense<[1, 0]> : tensor<2xui64>
  %bytes.next, %bytes = xla.rng_bit_generator %bytes.state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui8>)
  check.expect_eq_const %bytes, dense<[250, 133, 114]> : tensor<3xui8>
  %known.state = xla.constant dense<[247824715720788526, 9629550131187509896]> : tensor<2xui64>
  %known.next, %known = xla.rng_bit_generator %known.state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
  check.expect_eq_const %known, dense<[3297917596, 1212020640]> : tensor<2xui32>
  func.return
}

func.func @worked_philox() {
  %two.state = xla.constant dense<[1, 0]> : tensor<2xui64>
  %two.next, %two = xla.rng_bit_generator %two.state {algorithm = rng_philox} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  check.expect_eq_const %two, dense<[117906450, 1115841718, 956895307, 1839381922, 995334991]> : tensor<5xui32>
  check.expect_eq_const %two.next, dense<[1, 2]> : tensor<2xui64>
  %three.state = xla.constant dense<[1, 0, 0]> : tensor<3xui64>
  %three.next, %three = xla.rng_bit_generator %three.state {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>)
  check.expect_eq_const %three, dense<[3823634032, 3842641596, 2515673792, 3054873127, 2886210587]> : tensor<5xui32>
  check.expect_eq_const %three.next, dense<[1, 2, 0]> : tensor<3xui64>
  %long.state = xla.constant dense<[1, 0, 0]> : tensor<3xui64>
  %long.next, %long = xla.rng_bit_generator %long.state {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<3xui64>)
  check.expect_eq_const %long, dense<[16504019988892878448, 13120580176409928384, 16124519160171992091]> : tensor<3xui64>
  check.expect_eq_const %long.next, dense<[1, 2, 0]> : tensor<3xui64>
  %short.state = xla.constant dense<[1, 0, 0]> : tensor<3xui64>
  %short.next, %short = xla.rng_bit_generator %short.state {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<3xui8>)
  check.expect_eq_const %short, dense<[112, 188, 192]> : tensor<3xui8>
  check.expect_eq_const %short.next, dense<[1, 1, 0]> : tensor<3xui64>
  %known.state = xla.constant dense<[2999170649027065890, 9629550131187509896, 247824715720788526]> : tensor<3xui64>
  %known.next, %known = xla.rng_bit_generator %known.state {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  check.expect_eq_const %known, dense<[3513581065, 2499661035, 1342301216, 605187745]> : tensor<4xui32>
  check.expect_eq_const %known.next, dense<[2999170649027065890, 9629550131187509897, 247824715720788526]> : tensor<3xui64>
  %wrapped.state = xla.constant dense<[0, 18446744073709551615, 18446744073709551615]> : tensor<3xui64>
  %wrapped.next, %wrapped = xla.rng_bit_generator %wrapped.state {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<12xui32>)
  check.expect_eq_const %wrapped.next, dense<[0, 2, 0]> : tensor<3xui64>
  func.return
}

// for i32 in i8 i16 i32 i64 ui8 ui16 ui32 ui64
func.func @types() -> (tensor<2xui64>, tensor<3x5xi32>, tensor<3xui64>, tensor<3x5xi32>, tensor<2xui64>, tensor<7xi32>) {
  %two = xla.constant dense<[1311768467463790320, 18446744073709551614]> : tensor<2xui64>
  %three = xla.constant dense<[42, 18446744073709551615, 18446744073709551615]> : tensor<3xui64>
  %next.fry, %fry = xla.rng_bit_generator %two {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xi32>)
  %next.philox, %philox = xla.rng_bit_generator %three {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<3x5xi32>)
  %next.default, %default = xla.rng_bit_generator %two {algorithm = rng_default} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xi32>)
  func.return %next.fry, %fry, %next.philox, %philox, %next.default, %default : tensor<2xui64>, tensor<3x5xi32>, tensor<3xui64>, tensor<3x5xi32>, tensor<2xui64>, tensor<7xi32>
}

func.func @column_major() -> (tensor<2xui64>, tensor<2x3xui32, #xla.layout<{0,1}>>) {
  %state = xla.constant dense<[1, 0]> : tensor<2xui64>
  %next, %bits = xla.rng_bit_generator %state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32, #xla.layout<{0,1}>>)
  func.return %next, %bits : tensor<2xui64>, tensor<2x3xui32, #xla.layout<{0,1}>>
}

// One word for a scalar; no bits leave the state as it is.
func.func @sizes() -> (tensor<ui32>, tensor<2xui64>, tensor<0xui32>, tensor<2xui64>) {
  %state = xla.constant dense<[1, 0]> : tensor<2xui64>
  %next, %scalar = xla.rng_bit_generator %state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
  %same, %empty = xla.rng_bit_generator %state {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<0xui32>)
  check.expect_eq %same, %state : tensor<2xui64>
  func.return %scalar, %next, %empty, %same : tensor<ui32>, tensor<2xui64>, tensor<0xui32>, tensor<2xui64>
}
