// RUN: xla-opt %s --split-input-file --verify-diagnostics -p xla-partition

// Devices of one program are those of one mesh.
// expected-error@unknown {{a program is partitioned over one mesh, this one has}}
module attributes {sdy.meshes = {a = #sdy.mesh<["x"=2]>, b = #sdy.mesh<["x"=4]>}} {
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>},
                  %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"x"}]>}) -> tensor<8xf32> {
    func.return %x : tensor<8xf32>
  }
}

// -----

// expected-error@unknown {{xla-partition: the mesh has 2 devices, the module 1 replicas and 4 partitions}}
module attributes {sdy.meshes = {a = #sdy.mesh<["x"=2]>}, xla.num_partitions = 4 : i64} {
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}) -> tensor<8xf32> {
    func.return %x : tensor<8xf32>
  }
}

// -----

// expected-error@unknown {{axis 'x' of size 6 is cut after 2 and after 3: sub-axes that do not divide each other cannot be partitioned}}
module attributes {sdy.meshes = {a = #sdy.mesh<["x"=6]>}} {
  func.func @main(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@a, [{"x":(1)2}]>},
                  %y: tensor<6xf32> {sdy.sharding = #sdy.sharding<@a, [{"x":(1)3}]>}) -> tensor<6xf32> {
    func.return %x : tensor<6xf32>
  }
}

// -----

// Shardings that contradict each other have to become reshards first.
module attributes {sdy.meshes = {a = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %y: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@below {{has shardings that contradict each other: xla-insert-reshards makes reshards of them}}
    %0 = xla.add %x, %y : tensor<8xf32>
    func.return %0 : tensor<8xf32>
  }
}
