module @lstm attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x8x32xf32>, %arg1: tensor<96x256xf32>, %arg2: tensor<256xf32>) -> (tensor<20x8x64xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<20x8x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:7 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg1, %iterArg_2 = %arg2, %iterArg_3 = %c, %iterArg_4 = %0, %iterArg_5 = %0, %iterArg_6 = %1) : tensor<20x8x32xf32>, tensor<96x256xf32>, tensor<256xf32>, tensor<i32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<20x8x64xf32>
    cond {
      %c_7 = stablehlo.constant dense<20> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_3, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_3) : (tensor<20x8x32xf32>, tensor<i32>) -> tensor<8x32xf32>
      %4:3 = func.call @closed_call(%iterArg_1, %iterArg_2, %iterArg_4, %iterArg_5, %3) : (tensor<96x256xf32>, tensor<256xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x32xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>)
      %5 = func.call @dynamic_update_index_in_dim(%iterArg_6, %4#2, %iterArg_3) : (tensor<20x8x64xf32>, tensor<8x64xf32>, tensor<i32>) -> tensor<20x8x64xf32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg_3, %c_7 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %iterArg_2, %6, %4#0, %4#1, %5 : tensor<20x8x32xf32>, tensor<96x256xf32>, tensor<256xf32>, tensor<i32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<20x8x64xf32>
    }
    return %2#6 : tensor<20x8x64xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<20x8x32xf32>, %arg1: tensor<i32>) -> tensor<8x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 32] : (tensor<20x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x32xf32>) -> tensor<8x32xf32>
    return %1 : tensor<8x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<96x256xf32>, %arg1: tensor<256xf32>, %arg2: tensor<8x64xf32>, %arg3: tensor<8x64xf32>, %arg4: tensor<8x32xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) {
    %0 = stablehlo.concatenate %arg4, %arg3, dim = 1 : (tensor<8x32xf32>, tensor<8x64xf32>) -> tensor<8x96xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x96xf32>, tensor<96x256xf32>) -> tensor<8x256xf32>
    %cst = stablehlo.constant dense<9.79795932> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x256xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x256xf32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<256xf32>) -> tensor<1x256xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<8x256xf32>
    %6 = stablehlo.add %3, %5 : tensor<8x256xf32>
    %7 = stablehlo.slice %6 [0:8, 0:64] : (tensor<8x256xf32>) -> tensor<8x64xf32>
    %8 = stablehlo.slice %6 [0:8, 64:128] : (tensor<8x256xf32>) -> tensor<8x64xf32>
    %9 = stablehlo.slice %6 [0:8, 128:192] : (tensor<8x256xf32>) -> tensor<8x64xf32>
    %10 = stablehlo.slice %6 [0:8, 192:256] : (tensor<8x256xf32>) -> tensor<8x64xf32>
    %11 = stablehlo.negate %8 : tensor<8x64xf32>
    %12 = stablehlo.exponential %11 : tensor<8x64xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %14 = stablehlo.add %13, %12 : tensor<8x64xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %16 = stablehlo.divide %15, %14 : tensor<8x64xf32>
    %17 = stablehlo.multiply %16, %arg2 : tensor<8x64xf32>
    %18 = stablehlo.negate %7 : tensor<8x64xf32>
    %19 = stablehlo.exponential %18 : tensor<8x64xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %21 = stablehlo.add %20, %19 : tensor<8x64xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %23 = stablehlo.divide %22, %21 : tensor<8x64xf32>
    %24 = stablehlo.tanh %9 : tensor<8x64xf32>
    %25 = stablehlo.multiply %23, %24 : tensor<8x64xf32>
    %26 = stablehlo.add %17, %25 : tensor<8x64xf32>
    %27 = stablehlo.negate %10 : tensor<8x64xf32>
    %28 = stablehlo.exponential %27 : tensor<8x64xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %30 = stablehlo.add %29, %28 : tensor<8x64xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %32 = stablehlo.divide %31, %30 : tensor<8x64xf32>
    %33 = stablehlo.tanh %26 : tensor<8x64xf32>
    %34 = stablehlo.multiply %32, %33 : tensor<8x64xf32>
    return %26, %34, %34 : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<20x8x64xf32>, %arg1: tensor<8x64xf32>, %arg2: tensor<i32>) -> tensor<20x8x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x64xf32>) -> tensor<1x8x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<20x8x64xf32>, tensor<1x8x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<20x8x64xf32>
    return %1 : tensor<20x8x64xf32>
  }
}
