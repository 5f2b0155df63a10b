// RUN: xla-opt %s --split-input-file -p xla-insert-reshards,xla-split-updates | filecheck %s
// RUN: xla-opt %s --split-input-file -p xla-insert-reshards,xla-split-updates,xla-reshard-to-collectives | filecheck %s --check-prefix=COLLECTIVES

// A gradient and the new weights: as many bytes, and each device computes a part.
// CHECK-LABEL: func.func @main
// CHECK: %[[TERMS:.*]] = xla.dot %x, %y {{.*}}unreduced={"x"}
// CHECK-NEXT: %[[PART:.*]] = xla.copy %[[TERMS]] attributes {sdy.reshard = "", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
// CHECK-NEXT: %[[TURNED:.*]] = xla.transpose %[[PART]] {{.*}}<[<@mesh, [{"x"}, {}]>]>
// CHECK-NEXT: %[[CONSTANT:.*]] = xla.constant
// CHECK-NEXT: %[[RATE:.*]] = xla.broadcast %[[CONSTANT]] {{.*}}<[<@mesh, [{"x"}, {}]>]>
// CHECK-NEXT: %[[SCALED:.*]] = xla.multiply %[[RATE]], %[[TURNED]] {{.*}}<[<@mesh, [{"x"}, {}]>]>
// CHECK-NEXT: %[[OLD:.*]] = xla.copy %w attributes {sdy.reshard = "", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT: %[[NEW:.*]] = xla.subtract %[[OLD]], %[[SCALED]] {{.*}}<[<@mesh, [{"x"}, {}]>]>
// CHECK-NEXT: %[[WHOLE:.*]] = xla.copy %[[NEW]] attributes {sdy.reshard = "", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK-NEXT: return %[[WHOLE]]
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "reduce_scatter"
// COLLECTIVES: sdy.reshard = "all_slice"
// COLLECTIVES: sdy.reshard = "all_gather"
// COLLECTIVES-NOT: sdy.reshard
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4]>}} {
  func.func @main(
      %x: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %w: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
      -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = xla.dot %x, %y {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<16x6xf32>, tensor<16x8xf32>) -> tensor<6x8xf32>
    %1 = xla.transpose %0 {dimensions = [1, 0]} : (tensor<6x8xf32>) -> tensor<8x6xf32>
    %c = xla.constant dense<0.1> : tensor<f32>
    %2 = xla.broadcast %c {dimensions = []} : (tensor<f32>) -> tensor<8x6xf32>
    %3 = xla.multiply %2, %1 : tensor<8x6xf32>
    %4 = xla.subtract %w, %3 : tensor<8x6xf32>
    func.return %4 : tensor<8x6xf32>
  }
}

// -----

// Two results would have to be gathered, which is more than the work is worth.
// CHECK-LABEL: func.func @main
// CHECK: xla.copy %{{.*}}<[<@mesh, [{}]>]>
// CHECK-NOT: <[<@mesh, [{"x"}]>]>
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "all_reduce"
// COLLECTIVES-NOT: sdy.reshard
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4]>}} {
  func.func @main(
      %x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %m: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>},
      %w: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>},
          tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %c = xla.constant dense<-0.0> : tensor<f32>
    %0 = xla.reduce %x, %c {dimensions = [0]} : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %s = xla.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
        xla.return %s : tensor<f32>
      }
    %1 = xla.add %m, %0 : tensor<8xf32>
    %2 = xla.subtract %w, %1 : tensor<8xf32>
    func.return %1, %2 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Seven elements are not four equal parts: as many bytes there would not be.
// CHECK-LABEL: func.func @main
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "all_reduce"
// COLLECTIVES-NOT: sdy.reshard
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4]>}} {
  func.func @main(
      %x: tensor<16x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %w: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
      -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %c = xla.constant dense<-0.0> : tensor<f32>
    %0 = xla.reduce %x, %c {dimensions = [0]} : (tensor<16x7xf32>, tensor<f32>) -> tensor<7xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %s = xla.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
        xla.return %s : tensor<f32>
      }
    %1 = xla.subtract %w, %0 : tensor<7xf32>
    func.return %1 : tensor<7xf32>
  }
}

// -----

// Weights that are split already, over the other axis, are split further; two gradients are one
// update, and integers, of whose work nothing is counted, stay as they are.
// CHECK-LABEL: func.func @main
// CHECK: xla.subtract %{{.*}}<[<@mesh, [{"m", "d"}, {}]>]>
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES-COUNT-2: sdy.reshard = "reduce_scatter"
// COLLECTIVES: sdy.reshard = "all_reduce"
module attributes {sdy.meshes = {mesh = #sdy.mesh<["d"=2, "m"=2]>}} {
  func.func @main(
      %x: tensor<4x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>},
      %y: tensor<4x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>},
      %z: tensor<4x8x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>},
      %w: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>})
      -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>},
          tensor<8x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) {
    %c = xla.constant dense<-0.0> : tensor<f32>
    %0 = xla.reduce %x, %c {dimensions = [0]} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>} : (tensor<4x8x3xf32>, tensor<f32>) -> tensor<8x3xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %s = xla.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
        xla.return %s : tensor<f32>
      }
    %1 = xla.reduce %y, %c {dimensions = [0]} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>} : (tensor<4x8x3xf32>, tensor<f32>) -> tensor<8x3xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %s = xla.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
        xla.return %s : tensor<f32>
      }
    %2 = xla.add %0, %1 attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>} : tensor<8x3xf32>
    %3 = xla.subtract %w, %2 attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>} : tensor<8x3xf32>
    %d = xla.constant dense<0> : tensor<i32>
    %4 = xla.reduce %z, %d {dimensions = [0]} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>} : (tensor<4x8x3xi32>, tensor<i32>) -> tensor<8x3xi32>
      to_apply (%a: tensor<i32>, %b: tensor<i32>) {
        %s = xla.add %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i32>
        xla.return %s : tensor<i32>
      }
    %5 = xla.negate %4 attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>} : tensor<8x3xi32>
    func.return %3, %5 : tensor<8x3xf32>, tensor<8x3xi32>
  }
}

// -----

// Terms that a program carries on are summed where it says.
// CHECK-LABEL: func.func @main
// CHECK: xla.copy {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>
// CHECK: xla.subtract {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>
// CHECK-NEXT: func.return
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(
      %t: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>},
      %w: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
      -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = xla.subtract %w, %t : tensor<8x6xf32>
    func.return %0 : tensor<8x6xf32>
  }
}
