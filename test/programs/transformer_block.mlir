module @jit_transformer_block attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128xi32>, %arg1: tensor<512x128xf32>, %arg2: tensor<128x128xf32>, %arg3: tensor<128xf32>, %arg4: tensor<128xf32>, %arg5: tensor<128x384xf32>, %arg6: tensor<128x128xf32>, %arg7: tensor<128xf32>, %arg8: tensor<128xf32>, %arg9: tensor<128x512xf32>, %arg10: tensor<512xf32>, %arg11: tensor<512x128xf32>, %arg12: tensor<128xf32>) -> (tensor<2x128x128xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x128xi32>
    %1 = stablehlo.compare LT, %arg0, %0, SIGNED : (tensor<2x128xi32>, tensor<2x128xi32>) -> tensor<2x128xi1>
    %c_0 = stablehlo.constant dense<512> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x128xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<2x128xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<2x128xi1>, tensor<2x128xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x128xi32>) -> tensor<2x128x1xi32>
    %6 = "stablehlo.gather"(%arg1, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 128>}> : (tensor<512x128xf32>, tensor<2x128x1xi32>) -> tensor<2x128x128xf32>
    %7 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<128x128xf32>) -> tensor<1x128x128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x128x128xf32>) -> tensor<2x128x128xf32>
    %9 = stablehlo.add %6, %8 : tensor<2x128x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x128x128xf32>, tensor<f32>) -> tensor<2x128xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<2x128xf32>) -> tensor<2x128x1xf32>
    %cst_1 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x128x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<2x128x1xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %14 = call @_var(%9, %c_2) : (tensor<2x128x128xf32>, tensor<i32>) -> tensor<2x128x1xf32>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x128x1xf32>) -> tensor<2x128x128xf32>
    %16 = stablehlo.subtract %9, %15 : tensor<2x128x128xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x128x1xf32>
    %18 = stablehlo.add %14, %17 : tensor<2x128x1xf32>
    %19 = stablehlo.rsqrt %18 : tensor<2x128x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x128x1xf32>) -> tensor<2x128x128xf32>
    %21 = stablehlo.multiply %16, %20 : tensor<2x128x128xf32>
    %22 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<128xf32>) -> tensor<1x1x128xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<1x1x128xf32>) -> tensor<2x128x128xf32>
    %24 = stablehlo.multiply %21, %23 : tensor<2x128x128xf32>
    %25 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<128xf32>) -> tensor<1x1x128xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<1x1x128xf32>) -> tensor<2x128x128xf32>
    %27 = stablehlo.add %24, %26 : tensor<2x128x128xf32>
    %28 = stablehlo.dot_general %27, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x128x128xf32>, tensor<128x384xf32>) -> tensor<2x128x384xf32>
    %29 = stablehlo.reshape %28 : (tensor<2x128x384xf32>) -> tensor<2x128x3x4x32xf32>
    %30 = stablehlo.slice %29 [0:2, 0:128, 0:1, 0:4, 0:32] : (tensor<2x128x3x4x32xf32>) -> tensor<2x128x1x4x32xf32>
    %31 = stablehlo.reshape %30 : (tensor<2x128x1x4x32xf32>) -> tensor<2x128x4x32xf32>
    %32 = stablehlo.slice %29 [0:2, 0:128, 1:2, 0:4, 0:32] : (tensor<2x128x3x4x32xf32>) -> tensor<2x128x1x4x32xf32>
    %33 = stablehlo.reshape %32 : (tensor<2x128x1x4x32xf32>) -> tensor<2x128x4x32xf32>
    %34 = stablehlo.slice %29 [0:2, 0:128, 2:3, 0:4, 0:32] : (tensor<2x128x3x4x32xf32>) -> tensor<2x128x1x4x32xf32>
    %35 = stablehlo.reshape %34 : (tensor<2x128x1x4x32xf32>) -> tensor<2x128x4x32xf32>
    %36 = stablehlo.dot_general %31, %33, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x4x32xf32>, tensor<2x128x4x32xf32>) -> tensor<2x4x128x128xf32>
    %cst_4 = stablehlo.constant dense<5.65685415> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x128x128xf32>
    %38 = stablehlo.divide %36, %37 : tensor<2x4x128x128xf32>
    %c_5 = stablehlo.constant dense<true> : tensor<i1>
    %39 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %40 = call @tril(%39) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = call @_where_0(%40, %38, %cst_6) : (tensor<128x128xi1>, tensor<2x4x128x128xf32>, tensor<f32>) -> tensor<2x4x128x128xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x128x128xf32>, tensor<f32>) -> tensor<2x4x128xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x4x128xf32>
    %44 = stablehlo.maximum %43, %42 : tensor<2x4x128xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<2x4x128xf32>) -> tensor<2x4x128x1xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2, 3] : (tensor<2x4x128x1xf32>) -> tensor<2x4x128x128xf32>
    %47 = stablehlo.subtract %41, %46 : tensor<2x4x128x128xf32>
    %48 = stablehlo.exponential %47 : tensor<2x4x128x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x4x128x128xf32>, tensor<f32>) -> tensor<2x4x128xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<2x4x128xf32>) -> tensor<2x4x128x1xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2, 3] : (tensor<2x4x128x1xf32>) -> tensor<2x4x128x128xf32>
    %52 = stablehlo.divide %48, %51 : tensor<2x4x128x128xf32>
    %53 = stablehlo.dot_general %35, %52, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x4x32xf32>, tensor<2x4x128x128xf32>) -> tensor<2x4x32x128xf32>
    %54 = stablehlo.transpose %53, dims = [0, 3, 1, 2] : (tensor<2x4x32x128xf32>) -> tensor<2x128x4x32xf32>
    %55 = stablehlo.reshape %54 : (tensor<2x128x4x32xf32>) -> tensor<2x128x128xf32>
    %56 = stablehlo.dot_general %55, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x128x128xf32>, tensor<128x128xf32>) -> tensor<2x128x128xf32>
    %57 = stablehlo.add %9, %56 : tensor<2x128x128xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%57 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<2x128x128xf32>, tensor<f32>) -> tensor<2x128xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1] : (tensor<2x128xf32>) -> tensor<2x128x1xf32>
    %cst_11 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x128x1xf32>
    %61 = stablehlo.divide %59, %60 : tensor<2x128x1xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %62 = call @_var(%57, %c_12) : (tensor<2x128x128xf32>, tensor<i32>) -> tensor<2x128x1xf32>
    %63 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2] : (tensor<2x128x1xf32>) -> tensor<2x128x128xf32>
    %64 = stablehlo.subtract %57, %63 : tensor<2x128x128xf32>
    %cst_13 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x128x1xf32>
    %66 = stablehlo.add %62, %65 : tensor<2x128x1xf32>
    %67 = stablehlo.rsqrt %66 : tensor<2x128x1xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<2x128x1xf32>) -> tensor<2x128x128xf32>
    %69 = stablehlo.multiply %64, %68 : tensor<2x128x128xf32>
    %70 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<128xf32>) -> tensor<1x1x128xf32>
    %71 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2] : (tensor<1x1x128xf32>) -> tensor<2x128x128xf32>
    %72 = stablehlo.multiply %69, %71 : tensor<2x128x128xf32>
    %73 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<128xf32>) -> tensor<1x1x128xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<1x1x128xf32>) -> tensor<2x128x128xf32>
    %75 = stablehlo.add %72, %74 : tensor<2x128x128xf32>
    %76 = stablehlo.dot_general %75, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x128x128xf32>, tensor<128x512xf32>) -> tensor<2x128x512xf32>
    %77 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<512xf32>) -> tensor<1x1x512xf32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<1x1x512xf32>) -> tensor<2x128x512xf32>
    %79 = stablehlo.add %76, %78 : tensor<2x128x512xf32>
    %80 = stablehlo.multiply %79, %79 : tensor<2x128x512xf32>
    %81 = stablehlo.multiply %80, %79 : tensor<2x128x512xf32>
    %cst_14 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x128x512xf32>
    %83 = stablehlo.multiply %82, %81 : tensor<2x128x512xf32>
    %84 = stablehlo.add %79, %83 : tensor<2x128x512xf32>
    %cst_15 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x128x512xf32>
    %86 = stablehlo.multiply %85, %84 : tensor<2x128x512xf32>
    %87 = stablehlo.tanh %86 : tensor<2x128x512xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x128x512xf32>
    %89 = stablehlo.add %88, %87 : tensor<2x128x512xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x128x512xf32>
    %91 = stablehlo.multiply %90, %89 : tensor<2x128x512xf32>
    %92 = stablehlo.multiply %79, %91 : tensor<2x128x512xf32>
    %93 = stablehlo.dot_general %92, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x128x512xf32>, tensor<512x128xf32>) -> tensor<2x128x128xf32>
    %94 = stablehlo.add %57, %93 : tensor<2x128x128xf32>
    %95 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<128xf32>) -> tensor<1x1x128xf32>
    %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1, 2] : (tensor<1x1x128xf32>) -> tensor<2x128x128xf32>
    %97 = stablehlo.add %94, %96 : tensor<2x128x128xf32>
    return %97 : tensor<2x128x128xf32>
  }
  func.func private @_var(%arg0: tensor<2x128x128xf32>, %arg1: tensor<i32>) -> tensor<2x128x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x128x128xf32>, tensor<f32>) -> tensor<2x128xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x128xf32>) -> tensor<2x128x1xf32>
    %cst_0 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x128x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x128x1xf32>) -> tensor<2x128x128xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x128x128xf32>
    %6 = chlo.square %5 : tensor<2x128x128xf32> -> tensor<2x128x128xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x128x128xf32>, tensor<f32>) -> tensor<2x128xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x128xf32>) -> tensor<2x128x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x128x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x128x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<2x128x1xf32>, tensor<f32>) -> tensor<2x128x1xf32>
    return %14 : tensor<2x128x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x128x1xf32>, %arg2: tensor<f32>) -> tensor<2x128x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x128x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x128x1xf32>
    return %2 : tensor<2x128x1xf32>
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
  func.func private @_where_0(%arg0: tensor<128x128xi1>, %arg1: tensor<2x4x128x128xf32>, %arg2: tensor<f32>) -> tensor<2x4x128x128xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<2x4x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x128x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x128x128xi1>, tensor<2x4x128x128xf32>
    return %3 : tensor<2x4x128x128xf32>
  }
}
