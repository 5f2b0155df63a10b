// RUN: xla-run %s --all-functions --backend reference

// A kernel slid over an image: with strides, padding, dilation of both, reversal, and groups.

func.func @worked() {
  %x = xla.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %k = xla.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %valid = xla.convolution %x, %k {window = #xla.window<size=2x2>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  check.expect_eq_const %valid, dense<[[[[37.0, 47.0], [67.0, 77.0]]]]> : tensor<1x1x2x2xf32>
  %same = xla.convolution %x, %k {window = #xla.window<size=2x2 pad=0_1x0_1>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x3x3xf32>
  check.expect_eq_const %same, dense<[[[[37.0, 47.0, 21.0], [67.0, 77.0, 33.0], [23.0, 26.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %strided = xla.convolution %x, %k {window = #xla.window<size=2x2 stride=2x2 pad=1_1x1_1>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  check.expect_eq_const %strided, dense<[[[[4.0, 18.0], [36.0, 77.0]]]]> : tensor<1x1x2x2xf32>
  %base = xla.convolution %x, %k {window = #xla.window<size=2x2 lhs_dilate=2x2>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  check.expect_eq_const %base, dense<[[[[1.0, 4.0, 2.0, 6.0], [12.0, 20.0, 15.0, 24.0], [4.0, 10.0, 5.0, 12.0], [21.0, 32.0, 24.0, 36.0]]]]> : tensor<1x1x4x4xf32>
  %atrous = xla.convolution %x, %k {window = #xla.window<size=2x2 rhs_dilate=2x2>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  check.expect_eq_const %atrous, dense<[[[[64.0]]]]> : tensor<1x1x1x1xf32>
  %cut = xla.convolution %x, %k {window = #xla.window<size=2x2 pad=-1_0x0_0>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x1x2xf32>
  check.expect_eq_const %cut, dense<[[[[67.0, 77.0]]]]> : tensor<1x1x1x2xf32>
  %reversed = xla.convolution %x, %k {window = #xla.window<size=2x2 rhs_reversal=1x1>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  check.expect_eq_const %reversed, dense<[[[[23.0, 33.0], [53.0, 63.0]]]]> : tensor<1x1x2x2xf32>
  %reversed_rows = xla.convolution %x, %k {window = #xla.window<size=2x2 rhs_reversal=1x0>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  check.expect_eq_const %reversed_rows, dense<[[[[25.0, 35.0], [55.0, 65.0]]]]> : tensor<1x1x2x2xf32>
  func.return
}

func.func @worked_groups() {
  %x = xla.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
  %k = xla.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]], [[5.0], [6.0]], [[7.0], [8.0]]]> : tensor<4x2x1xf32>
  %features = xla.convolution %x, %k {window = #xla.window<size=1>, dim_labels = #xla.dim_labels<bf0_oi0->bf0>, feature_group_count = 2} : (tensor<1x4x1xf32>, tensor<4x2x1xf32>) -> tensor<1x4x1xf32>
  check.expect_eq_const %features, dense<[[[5.0], [11.0], [39.0], [53.0]]]> : tensor<1x4x1xf32>
  %y = xla.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %l = xla.constant dense<[[[10.0]], [[1.0]]]> : tensor<2x1x1xf32>
  %batches = xla.convolution %y, %l {window = #xla.window<size=1>, dim_labels = #xla.dim_labels<bf0_oi0->bf0>, batch_group_count = 2} : (tensor<4x1x1xf32>, tensor<2x1x1xf32>) -> tensor<2x2x1xf32>
  check.expect_eq_const %batches, dense<[[[10.0], [3.0]], [[20.0], [4.0]]]> : tensor<2x2x1xf32>
  %line = xla.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %pair = xla.constant dense<[[[10.0, 1.0]]]> : tensor<1x1x2xf32>
  %holes = xla.convolution %line, %pair {window = #xla.window<size=2 pad=-1_-1 lhs_dilate=2>, dim_labels = #xla.dim_labels<bf0_oi0->bf0>} : (tensor<1x1x3xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  check.expect_eq_const %holes, dense<[[[2.0, 20.0]]]> : tensor<1x1x2xf32>
  %0 = xla.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %1 = xla.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %none = xla.convolution %0, %1 {window = #xla.window<>, dim_labels = #xla.dim_labels<bf_oi->bf>} : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<1x3xf32>
  check.expect_eq_const %none, dense<[[5.0, 11.0, 17.0]]> : tensor<1x3xf32>
  func.return
}

// for f32 in integers floats complex<f32> complex<f64>
func.func @types() -> (tensor<1x3x4x2xf32>, tensor<1x2x2x2xf32>) {
  %0 = xla.constant dense<[[[[1, 0], [2, -1], [0, 1], [1, 1]], [[0, 2], [1, 0], [-1, 1], [0, 0]], [[1, 1], [0, 0], [2, 1], [-2, 1]]]]> : tensor<1x3x4x2xi64>
  %1 = xla.constant dense<[[[[1, 0], [-1, 1]], [[0, 1], [1, 0]]], [[[1, 1], [0, -1]], [[-1, 0], [0, 1]]]]> : tensor<2x2x2x2xi64>
  %x = xla.convert %0 : (tensor<1x3x4x2xi64>) -> tensor<1x3x4x2xf32>
  %k = xla.convert %1 : (tensor<2x2x2x2xi64>) -> tensor<2x2x2x2xf32>
  %same = xla.convolution %x, %k {window = #xla.window<size=2x2 pad=1_0x0_1>, dim_labels = #xla.dim_labels<b01f_01io->b01f>} : (tensor<1x3x4x2xf32>, tensor<2x2x2x2xf32>) -> tensor<1x3x4x2xf32>
  %apart = xla.convolution %x, %k {window = #xla.window<size=2x2 stride=2x3 pad=1_0x1_1 rhs_dilate=1x2>, dim_labels = #xla.dim_labels<b01f_01io->b01f>} : (tensor<1x3x4x2xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  func.return %same, %apart : tensor<1x3x4x2xf32>, tensor<1x2x2x2xf32>
}

// Narrow operands, wide sums.
func.func @wide() -> tensor<1x1x2xi32> {
  %x = xla.constant dense<[[[100, 100, -128]]]> : tensor<1x1x3xi8>
  %k = xla.constant dense<[[[100, -128]]]> : tensor<1x1x2xi8>
  %0 = xla.convolution %x, %k {window = #xla.window<size=2>, dim_labels = #xla.dim_labels<bf0_oi0->bf0>} : (tensor<1x1x3xi8>, tensor<1x1x2xi8>) -> tensor<1x1x2xi32>
  check.expect_eq_const %0, dense<[[[-2800, 26384]]]> : tensor<1x1x2xi32>
  func.return %0 : tensor<1x1x2xi32>
}

// Depthwise: as many groups as features.
func.func @depthwise() -> tensor<1x2x3x2xi32> {
  %x = xla.constant dense<[[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]], [[13, 14], [15, 16], [17, 18]]]]> : tensor<1x3x3x2xi32>
  %k = xla.constant dense<[[[[1, 10]]], [[[-1, 100]]]]> : tensor<2x1x1x2xi32>
  %0 = xla.convolution %x, %k {window = #xla.window<size=2x1>, dim_labels = #xla.dim_labels<b01f_01io->b01f>, feature_group_count = 2} : (tensor<1x3x3x2xi32>, tensor<2x1x1x2xi32>) -> tensor<1x2x3x2xi32>
  // Of the first feature the difference, of the second 10 times the upper and 100 times the lower one.
  check.expect_eq_const %0, dense<[[[[-6, 820], [-6, 1040], [-6, 1260]], [[-6, 1480], [-6, 1700], [-6, 1920]]]]> : tensor<1x2x3x2xi32>
  func.return %0 : tensor<1x2x3x2xi32>
}

func.func @layouts() -> tensor<1x1x2x2xf32, #xla.layout<{0,1,2,3}>> {
  %x = xla.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32, #xla.layout<{2,3,1,0}>>
  %k = xla.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32, #xla.layout<{0,1,2,3}>>
  %0 = xla.convolution %x, %k {window = #xla.window<size=2x2>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32, #xla.layout<{2,3,1,0}>>, tensor<1x1x2x2xf32, #xla.layout<{0,1,2,3}>>) -> tensor<1x1x2x2xf32, #xla.layout<{0,1,2,3}>>
  check.expect_eq_const %0, dense<[[[[37.0, 47.0], [67.0, 77.0]]]]> : tensor<1x1x2x2xf32, #xla.layout<{0,1,2,3}>>
  func.return %0 : tensor<1x1x2x2xf32, #xla.layout<{0,1,2,3}>>
}

// Whether a window has a pair of truth values that hold; what lies outside does not.
func.func @truth_values() -> tensor<1x1x5xi1> {
  %x = xla.constant dense<[[[true, false, false, true, true]]]> : tensor<1x1x5xi1>
  %k = xla.constant dense<[[[true, false, true]]]> : tensor<1x1x3xi1>
  %0 = xla.convolution %x, %k {window = #xla.window<size=3 pad=1_1>, dim_labels = #xla.dim_labels<bf0_oi0->bf0>} : (tensor<1x1x5xi1>, tensor<1x1x3xi1>) -> tensor<1x1x5xi1>
  check.expect_eq_const %0, dense<[[[false, true, true, true, true]]]> : tensor<1x1x5xi1>
  func.return %0 : tensor<1x1x5xi1>
}

// The kernel is larger than the image, there is no image, no feature, no result feature.
func.func @sizes() -> (tensor<1x1x0xf32>, tensor<0x1x2xf32>, tensor<1x1x2xf32>, tensor<1x0x2xf32>) {
  %x = xla.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %long = xla.constant dense<1.0> : tensor<1x1x5xf32>
  %beyond = xla.convolution %x, %long {window = #xla.window<size=5>, dim_labels = #xla.dim_labels<bf0_oi0->bf0>} : (tensor<1x1x3xf32>, tensor<1x1x5xf32>) -> tensor<1x1x0xf32>
  %pair = xla.constant dense<1.0> : tensor<1x1x2xf32>
  %nothing = xla.constant dense<> : tensor<0x1x3xf32>
  %empty = xla.convolution %nothing, %pair {window = #xla.window<size=2>, dim_labels = #xla.dim_labels<bf0_oi0->bf0>} : (tensor<0x1x3xf32>, tensor<1x1x2xf32>) -> tensor<0x1x2xf32>
  %no_features = xla.constant dense<> : tensor<1x0x3xf32>
  %no_inputs = xla.constant dense<> : tensor<1x0x2xf32>
  %zeros = xla.convolution %no_features, %no_inputs {window = #xla.window<size=2>, dim_labels = #xla.dim_labels<bf0_oi0->bf0>} : (tensor<1x0x3xf32>, tensor<1x0x2xf32>) -> tensor<1x1x2xf32>
  %no_outputs = xla.constant dense<> : tensor<0x1x2xf32>
  %none = xla.convolution %x, %no_outputs {window = #xla.window<size=2>, dim_labels = #xla.dim_labels<bf0_oi0->bf0>} : (tensor<1x1x3xf32>, tensor<0x1x2xf32>) -> tensor<1x0x2xf32>
  func.return %beyond, %empty, %zeros, %none : tensor<1x1x0xf32>, tensor<0x1x2xf32>, tensor<1x1x2xf32>, tensor<1x0x2xf32>
}
