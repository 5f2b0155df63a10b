module @runge_kutta attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x64xf32>) -> (tensor<2x64xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<2x64xf32>
    cond {
      %c_1 = stablehlo.constant dense<100> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg_0) : (tensor<2x64xf32>) -> tensor<2x64xf32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_1 : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<2x64xf32>
    }
    return %0#1 : tensor<2x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<2x64xf32>) -> tensor<2x64xf32> {
    %0 = stablehlo.slice %arg0 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64xf32>) -> tensor<64xf32>
    %2 = stablehlo.slice %arg0 [0:1, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x64xf32>) -> tensor<64xf32>
    %4 = stablehlo.sine %3 : tensor<64xf32>
    %5 = stablehlo.negate %4 : tensor<64xf32>
    %6 = stablehlo.slice %arg0 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x64xf32>) -> tensor<64xf32>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<64xf32>
    %10 = stablehlo.subtract %5, %9 : tensor<64xf32>
    %11 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %13 = stablehlo.concatenate %11, %12, dim = 0 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-03> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x64xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<2x64xf32>
    %16 = stablehlo.add %arg0, %15 : tensor<2x64xf32>
    %17 = stablehlo.slice %16 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %18 = stablehlo.reshape %17 : (tensor<1x64xf32>) -> tensor<64xf32>
    %19 = stablehlo.slice %16 [0:1, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %20 = stablehlo.reshape %19 : (tensor<1x64xf32>) -> tensor<64xf32>
    %21 = stablehlo.sine %20 : tensor<64xf32>
    %22 = stablehlo.negate %21 : tensor<64xf32>
    %23 = stablehlo.slice %16 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %24 = stablehlo.reshape %23 : (tensor<1x64xf32>) -> tensor<64xf32>
    %cst_1 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %26 = stablehlo.multiply %25, %24 : tensor<64xf32>
    %27 = stablehlo.subtract %22, %26 : tensor<64xf32>
    %28 = stablehlo.broadcast_in_dim %18, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %30 = stablehlo.concatenate %28, %29, dim = 0 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-03> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x64xf32>
    %32 = stablehlo.multiply %31, %30 : tensor<2x64xf32>
    %33 = stablehlo.add %arg0, %32 : tensor<2x64xf32>
    %34 = stablehlo.slice %33 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %35 = stablehlo.reshape %34 : (tensor<1x64xf32>) -> tensor<64xf32>
    %36 = stablehlo.slice %33 [0:1, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %37 = stablehlo.reshape %36 : (tensor<1x64xf32>) -> tensor<64xf32>
    %38 = stablehlo.sine %37 : tensor<64xf32>
    %39 = stablehlo.negate %38 : tensor<64xf32>
    %40 = stablehlo.slice %33 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %41 = stablehlo.reshape %40 : (tensor<1x64xf32>) -> tensor<64xf32>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %43 = stablehlo.multiply %42, %41 : tensor<64xf32>
    %44 = stablehlo.subtract %39, %43 : tensor<64xf32>
    %45 = stablehlo.broadcast_in_dim %35, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %46 = stablehlo.broadcast_in_dim %44, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %47 = stablehlo.concatenate %45, %46, dim = 0 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
    %cst_4 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x64xf32>
    %49 = stablehlo.multiply %48, %47 : tensor<2x64xf32>
    %50 = stablehlo.add %arg0, %49 : tensor<2x64xf32>
    %51 = stablehlo.slice %50 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %52 = stablehlo.reshape %51 : (tensor<1x64xf32>) -> tensor<64xf32>
    %53 = stablehlo.slice %50 [0:1, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %54 = stablehlo.reshape %53 : (tensor<1x64xf32>) -> tensor<64xf32>
    %55 = stablehlo.sine %54 : tensor<64xf32>
    %56 = stablehlo.negate %55 : tensor<64xf32>
    %57 = stablehlo.slice %50 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %58 = stablehlo.reshape %57 : (tensor<1x64xf32>) -> tensor<64xf32>
    %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %60 = stablehlo.multiply %59, %58 : tensor<64xf32>
    %61 = stablehlo.subtract %56, %60 : tensor<64xf32>
    %62 = stablehlo.broadcast_in_dim %52, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %63 = stablehlo.broadcast_in_dim %61, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %64 = stablehlo.concatenate %62, %63, dim = 0 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x64xf32>
    %66 = stablehlo.multiply %65, %30 : tensor<2x64xf32>
    %67 = stablehlo.add %13, %66 : tensor<2x64xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x64xf32>
    %69 = stablehlo.multiply %68, %47 : tensor<2x64xf32>
    %70 = stablehlo.add %67, %69 : tensor<2x64xf32>
    %71 = stablehlo.add %70, %64 : tensor<2x64xf32>
    %cst_8 = stablehlo.constant dense<0.00166666671> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x64xf32>
    %73 = stablehlo.multiply %72, %71 : tensor<2x64xf32>
    %74 = stablehlo.add %arg0, %73 : tensor<2x64xf32>
    return %74 : tensor<2x64xf32>
  }
}
