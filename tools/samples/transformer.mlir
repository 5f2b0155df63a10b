module @transformer attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128xi32>, %arg1: tensor<512x128xf32>, %arg2: tensor<128x128xf32>, %arg3: tensor<128x384xf32>, %arg4: tensor<128x128xf32>, %arg5: tensor<128x512xf32>, %arg6: tensor<512x128xf32>) -> (tensor<128x128xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %1 = stablehlo.compare LT, %arg0, %0, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_0 = stablehlo.constant dense<512> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<128xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<128xi1>, tensor<128xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %6 = "stablehlo.gather"(%arg1, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 128>}> : (tensor<512x128xf32>, tensor<128x1xi32>) -> tensor<128x128xf32>
    %7 = stablehlo.add %6, %arg2 : tensor<128x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %cst_1 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<128x1xf32>
    %11 = stablehlo.divide %9, %10 : tensor<128x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x128xf32>
    %13 = stablehlo.subtract %7, %12 : tensor<128x128xf32>
    %14 = stablehlo.multiply %13, %13 : tensor<128x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %cst_3 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<128x1xf32>
    %18 = stablehlo.divide %16, %17 : tensor<128x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<128x1xf32>
    %20 = stablehlo.add %18, %19 : tensor<128x1xf32>
    %21 = stablehlo.rsqrt %20 : tensor<128x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x128xf32>
    %23 = stablehlo.multiply %13, %22 : tensor<128x128xf32>
    %24 = stablehlo.dot_general %23, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x128xf32>, tensor<128x384xf32>) -> tensor<128x384xf32>
    %cst_5 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<128x384xf32>
    %26 = stablehlo.divide %24, %25 : tensor<128x384xf32>
    %27 = stablehlo.slice %26 [0:128, 0:128] : (tensor<128x384xf32>) -> tensor<128x128xf32>
    %28 = stablehlo.slice %26 [0:128, 128:256] : (tensor<128x384xf32>) -> tensor<128x128xf32>
    %29 = stablehlo.slice %26 [0:128, 256:384] : (tensor<128x384xf32>) -> tensor<128x128xf32>
    %30 = stablehlo.reshape %27 : (tensor<128x128xf32>) -> tensor<128x4x32xf32>
    %31 = stablehlo.transpose %30, dims = [1, 0, 2] : (tensor<128x4x32xf32>) -> tensor<4x128x32xf32>
    %32 = stablehlo.reshape %28 : (tensor<128x128xf32>) -> tensor<128x4x32xf32>
    %33 = stablehlo.transpose %32, dims = [1, 0, 2] : (tensor<128x4x32xf32>) -> tensor<4x128x32xf32>
    %34 = stablehlo.reshape %29 : (tensor<128x128xf32>) -> tensor<128x4x32xf32>
    %35 = stablehlo.transpose %34, dims = [1, 0, 2] : (tensor<128x4x32xf32>) -> tensor<4x128x32xf32>
    %36 = stablehlo.transpose %33, dims = [0, 2, 1] : (tensor<4x128x32xf32>) -> tensor<4x32x128xf32>
    %37 = stablehlo.dot_general %31, %36, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x128x32xf32>, tensor<4x32x128xf32>) -> tensor<4x128x128xf32>
    %cst_6 = stablehlo.constant dense<5.65685415> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x128x128xf32>
    %39 = stablehlo.divide %37, %38 : tensor<4x128x128xf32>
    %c_7 = stablehlo.constant dense<true> : tensor<i1>
    %40 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %41 = call @tril(%40) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %42 = call @_where(%41, %39, %cst_8) : (tensor<128x128xi1>, tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128x128xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_9) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x128xf32>
    %45 = stablehlo.maximum %44, %43 : tensor<4x128xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<4x128x1xf32>) -> tensor<4x128x128xf32>
    %48 = stablehlo.subtract %42, %47 : tensor<4x128x128xf32>
    %49 = stablehlo.exponential %48 : tensor<4x128x128xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x1xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2] : (tensor<4x128x1xf32>) -> tensor<4x128x128xf32>
    %53 = stablehlo.divide %49, %52 : tensor<4x128x128xf32>
    %54 = stablehlo.dot_general %53, %35, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x128x128xf32>, tensor<4x128x32xf32>) -> tensor<4x128x32xf32>
    %55 = stablehlo.transpose %54, dims = [1, 0, 2] : (tensor<4x128x32xf32>) -> tensor<128x4x32xf32>
    %56 = stablehlo.reshape %55 : (tensor<128x4x32xf32>) -> tensor<128x128xf32>
    %57 = stablehlo.dot_general %56, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %cst_12 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %59 = stablehlo.divide %57, %58 : tensor<128x128xf32>
    %60 = stablehlo.add %7, %59 : tensor<128x128xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%60 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %cst_14 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<128x1xf32>
    %64 = stablehlo.divide %62, %63 : tensor<128x1xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x128xf32>
    %66 = stablehlo.subtract %60, %65 : tensor<128x128xf32>
    %67 = stablehlo.multiply %66, %66 : tensor<128x128xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%67 init: %cst_15) applies stablehlo.add across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %cst_16 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<128x1xf32>
    %71 = stablehlo.divide %69, %70 : tensor<128x1xf32>
    %cst_17 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<128x1xf32>
    %73 = stablehlo.add %71, %72 : tensor<128x1xf32>
    %74 = stablehlo.rsqrt %73 : tensor<128x1xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x128xf32>
    %76 = stablehlo.multiply %66, %75 : tensor<128x128xf32>
    %77 = stablehlo.dot_general %76, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x128xf32>, tensor<128x512xf32>) -> tensor<128x512xf32>
    %cst_18 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %79 = stablehlo.divide %77, %78 : tensor<128x512xf32>
    %80 = stablehlo.multiply %79, %79 : tensor<128x512xf32>
    %81 = stablehlo.multiply %80, %79 : tensor<128x512xf32>
    %cst_19 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %83 = stablehlo.multiply %82, %81 : tensor<128x512xf32>
    %84 = stablehlo.add %79, %83 : tensor<128x512xf32>
    %cst_20 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %86 = stablehlo.multiply %85, %84 : tensor<128x512xf32>
    %87 = stablehlo.tanh %86 : tensor<128x512xf32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %89 = stablehlo.add %88, %87 : tensor<128x512xf32>
    %cst_22 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %91 = stablehlo.multiply %90, %89 : tensor<128x512xf32>
    %92 = stablehlo.multiply %79, %91 : tensor<128x512xf32>
    %93 = stablehlo.dot_general %92, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x512xf32>, tensor<512x128xf32>) -> tensor<128x128xf32>
    %cst_23 = stablehlo.constant dense<22.6274166> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %95 = stablehlo.divide %93, %94 : tensor<128x128xf32>
    %96 = stablehlo.add %60, %95 : tensor<128x128xf32>
    return %96 : tensor<128x128xf32>
  }
  func.func private @tril(%arg0: tensor<128x128xi1>) -> tensor<128x128xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %2 = stablehlo.add %0, %1 : tensor<128x128xi32>
    %3 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<128x128xi1>, tensor<128x128xi1>
    return %6 : tensor<128x128xi1>
  }
  func.func private @_where(%arg0: tensor<128x128xi1>, %arg1: tensor<4x128x128xf32>, %arg2: tensor<f32>) -> tensor<4x128x128xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<128x128xi1>) -> tensor<4x128x128xi1>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<128x128xf32>) -> tensor<4x128x128xf32>
    %4 = stablehlo.select %2, %arg1, %3 : tensor<4x128x128xi1>, tensor<4x128x128xf32>
    return %4 : tensor<4x128x128xf32>
  }
}
