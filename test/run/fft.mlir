// RUN: xla-run %s --all-functions --backend reference

// Fourier transforms of one to three dimensions, of real and complex arrays, of any length.

func.func @worked() {
  %x = xla.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = xla.fft %x {fft_type = RFFT, fft_length = [4]} : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %0, dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]> : tensor<3xcomplex<f32>>
  %1 = xla.constant dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0), (-2.0, -2.0)]> : tensor<4xcomplex<f32>>
  %2 = xla.fft %1 {fft_type = IFFT, fft_length = [4]} : tensor<4xcomplex<f32>>
  check.expect_almost_eq_const %2, dense<[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)]> : tensor<4xcomplex<f32>>
  // The imaginary parts of the ends are not read.
  %3 = xla.constant dense<[(10.0, 7.0), (-2.0, 2.0), (-2.0, 9.0)]> : tensor<3xcomplex<f32>>
  %even = xla.fft %3 {fft_type = IRFFT, fft_length = [4]} : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
  check.expect_almost_eq_const %even, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %4 = xla.constant dense<[(15.0, 7.0), (-2.0, 2.0), (-2.0, 9.0)]> : tensor<3xcomplex<f32>>
  %odd = xla.fft %4 {fft_type = IRFFT, fft_length = [5]} : (tensor<3xcomplex<f32>>) -> tensor<5xf32>
  check.expect_almost_eq_const %odd, dense<[1.4, 0.523128, 6.353575, 0.446425, 6.276872]> : tensor<5xf32>
  %5 = xla.constant dense<[[(1.0, 1.0), (2.0, 0.0), (3.0, 0.0)], [(4.0, 0.0), (5.0, 2.0), (6.0, 3.0)]]> : tensor<2x3xcomplex<f32>>
  %plane = xla.fft %5 {fft_type = IRFFT, fft_length = [2, 4]} : (tensor<2x3xcomplex<f32>>) -> tensor<2x4xf32>
  check.expect_almost_eq_const %plane, dense<[[3.5, -1.0, 0.0, 0.0], [-1.5, 0.5, 0.0, -0.5]]> : tensor<2x4xf32>
  %6 = xla.constant dense<[(3.0, 4.0)]> : tensor<1xcomplex<f32>>
  %one = xla.fft %6 {fft_type = IRFFT, fft_length = [1]} : (tensor<1xcomplex<f32>>) -> tensor<1xf32>
  check.expect_almost_eq_const %one, dense<[3.0]> : tensor<1xf32>
  // As many ones as elements: everything is in the first frequency, for an even and an odd length.
  %7 = xla.constant dense<1.0> : tensor<16xf32>
  %sixteen = xla.fft %7 {fft_type = RFFT, fft_length = [16]} : (tensor<16xf32>) -> tensor<9xcomplex<f32>>
  check.expect_almost_eq_const %sixteen, dense<[(16.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]> : tensor<9xcomplex<f32>>
  %8 = xla.constant dense<1.0> : tensor<17xf32>
  %seventeen = xla.fft %8 {fft_type = RFFT, fft_length = [17]} : (tensor<17xf32>) -> tensor<9xcomplex<f32>>
  check.expect_almost_eq_const %seventeen, dense<[(17.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]> : tensor<9xcomplex<f32>>
  %five = xla.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %there = xla.fft %five {fft_type = RFFT, fft_length = [5]} : (tensor<5xf32>) -> tensor<3xcomplex<f32>>
  %and_back = xla.fft %there {fft_type = IRFFT, fft_length = [5]} : (tensor<3xcomplex<f32>>) -> tensor<5xf32>
  check.expect_almost_eq_const %and_back, dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  func.return
}

// Lengths that are powers of two, composite and prime.
// for f32 in parts
func.func @lengths() -> (tensor<2x8xcomplex<f32>>, tensor<12xcomplex<f32>>, tensor<2x7xcomplex<f32>>, tensor<9xcomplex<f32>>, tensor<17xf32>) {
  %0 = xla.iota {iota_dimension = 0} : tensor<16xcomplex<f32>>
  %1 = xla.reshape %0 : (tensor<16xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
  %power = xla.fft %1 {fft_type = FFT, fft_length = [8]} : tensor<2x8xcomplex<f32>>
  %2 = xla.iota {iota_dimension = 0} : tensor<12xcomplex<f32>>
  %composite = xla.fft %2 {fft_type = IFFT, fft_length = [12]} : tensor<12xcomplex<f32>>
  %3 = xla.iota {iota_dimension = 0} : tensor<14xcomplex<f32>>
  %4 = xla.reshape %3 : (tensor<14xcomplex<f32>>) -> tensor<2x7xcomplex<f32>>
  %prime = xla.fft %4 {fft_type = FFT, fft_length = [7]} : tensor<2x7xcomplex<f32>>
  %5 = xla.iota {iota_dimension = 0} : tensor<17xf32>
  %real = xla.fft %5 {fft_type = RFFT, fft_length = [17]} : (tensor<17xf32>) -> tensor<9xcomplex<f32>>
  %back = xla.fft %real {fft_type = IRFFT, fft_length = [17]} : (tensor<9xcomplex<f32>>) -> tensor<17xf32>
  func.return %power, %composite, %prime, %real, %back : tensor<2x8xcomplex<f32>>, tensor<12xcomplex<f32>>, tensor<2x7xcomplex<f32>>, tensor<9xcomplex<f32>>, tensor<17xf32>
}

// for f32 in parts
func.func @dimensions() -> (tensor<2x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>, tensor<2x3x4xf32>) {
  %0 = xla.iota {iota_dimension = 0} : tensor<6xcomplex<f32>>
  %1 = xla.reshape %0 : (tensor<6xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %two = xla.fft %1 {fft_type = FFT, fft_length = [2, 3]} : tensor<2x3xcomplex<f32>>
  %2 = xla.iota {iota_dimension = 0} : tensor<24xf32>
  %3 = xla.reshape %2 : (tensor<24xf32>) -> tensor<2x3x4xf32>
  %three = xla.fft %3 {fft_type = RFFT, fft_length = [2, 3, 4]} : (tensor<2x3x4xf32>) -> tensor<2x3x3xcomplex<f32>>
  %back = xla.fft %three {fft_type = IRFFT, fft_length = [2, 3, 4]} : (tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x4xf32>
  func.return %two, %three, %back : tensor<2x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>, tensor<2x3x4xf32>
}

func.func @column_major() -> tensor<2x3xcomplex<f32>, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 0.0]]> : tensor<2x4xf32, #xla.layout<{0,1}>>
  %0 = xla.fft %x {fft_type = RFFT, fft_length = [4]} : (tensor<2x4xf32, #xla.layout<{0,1}>>) -> tensor<2x3xcomplex<f32>, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xcomplex<f32>, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<0xcomplex<f32>>, tensor<0xcomplex<f64>>, tensor<0xf32>, tensor<0x4xcomplex<f32>>) {
  %0 = xla.constant dense<> : tensor<0xcomplex<f32>>
  %empty = xla.fft %0 {fft_type = FFT, fft_length = [0]} : tensor<0xcomplex<f32>>
  %1 = xla.constant dense<> : tensor<0xf64>
  %real = xla.fft %1 {fft_type = RFFT, fft_length = [0]} : (tensor<0xf64>) -> tensor<0xcomplex<f64>>
  %back = xla.fft %0 {fft_type = IRFFT, fft_length = [0]} : (tensor<0xcomplex<f32>>) -> tensor<0xf32>
  %2 = xla.constant dense<> : tensor<0x4xcomplex<f32>>
  %none = xla.fft %2 {fft_type = FFT, fft_length = [4]} : tensor<0x4xcomplex<f32>>
  func.return %empty, %real, %back, %none : tensor<0xcomplex<f32>>, tensor<0xcomplex<f64>>, tensor<0xf32>, tensor<0x4xcomplex<f32>>
}
