// RUN: xla-opt %s -t stablehlo | filecheck %s
// RUN: xla-opt %s -t hlo | filecheck %s --check-prefix=HLO

// Groups that the axes of a mesh say stay so, in StableHLO and in HLO text. A mesh that the module
// has is named.

// CHECK: module {
module {
  // CHECK-NEXT: sdy.mesh @mesh = <["a"=2, "b"=4]>
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  // CHECK-NEXT: func.func @main
  func.func @main(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<2xf32>) {
    // CHECK-NEXT: %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<2xf32>) -> tensor<4xf32>
    // HLO: replica_groups=mesh['a'=2,'b'=4] {'a'}, dimensions={0}
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<2xf32>) -> tensor<4xf32>
    // CHECK-NEXT: %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>], device_ids=dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (2)2>, #stablehlo.axis_ref<name = "x">]>}> : (tensor<2xf32>) -> tensor<8xf32>
    // HLO: replica_groups=mesh['x'=2,'y'=4], device_ids=(7,6,5,4,3,2,1,0) {'y':(2)2,'x'}, dimensions={0}
    %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<sub_axis_info = (2)2, name = "y">, #stablehlo.axis_ref<name = "x">], mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, #stablehlo.mesh_axis<size = 4, name = "y">], device_ids=dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>>}> : (tensor<2xf32>) -> tensor<8xf32>
    // CHECK-NEXT: %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<{{.}}[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
    // Names that HLO text cannot spell: the groups are listed.
    // HLO: replica_groups={{..0,1.,.2,3..}}
    %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "it's", size = 2>, <name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<2xf32>) -> tensor<4xf32>
    // CHECK-NEXT: %3 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2xf32>) -> tensor<2xf32>
    %3 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2xf32>) -> tensor<2xf32>
    return %0, %1, %2, %3 : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<2xf32>
  }
}
