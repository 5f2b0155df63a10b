// RUN: xla-opt %s --split-input-file -p xla-insert-reshards | filecheck %s
// RUN: xla-opt %s --split-input-file -p xla-insert-reshards,xla-reshard-to-collectives | filecheck %s --check-prefix=COLLECTIVES
// RUN: xla-opt %s --split-input-file -p xla-insert-reshards,xla-partition | filecheck %s --check-prefix=LOCAL

// The contracted dimension is split: devices have terms of the sum, of which each needs a part.
// CHECK-LABEL: func.func @main
// CHECK: %[[DOT:.*]] = xla.dot %x, %w {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>
// CHECK-NEXT: %[[PART:.*]] = xla.copy %[[DOT]] attributes {sdy.reshard = "", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT: %[[TANH:.*]] = xla.tanh %[[PART]] attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT: return %[[TANH]]
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "reduce_scatter", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// COLLECTIVES-NOT: sdy.reshard
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4]>}} {
  func.func @main(
      %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
      %w: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> tensor<8x4xf32> {
    %0 = xla.dot %x, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %1 = xla.tanh %0 : tensor<8x4xf32>
    func.return %1 : tensor<8x4xf32>
  }
}

// -----

// A start that is folded once: the other devices fold from what changes nothing.
// CHECK-LABEL: func.func @main
// CHECK: %[[SUM:.*]] = xla.reduce %x, %s {{.*}}unreduced={"x"}
// CHECK: xla.copy %[[SUM]] attributes {sdy.reshard = ""
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "all_reduce"
// LOCAL-LABEL: func.func @main
// LOCAL: %[[NOTHING:.*]] = xla.constant dense<-0.000000e+00> : tensor<f32>
// LOCAL: %[[START:.*]] = xla.select %{{.*}}, %s, %[[NOTHING]]
// LOCAL: %[[SUM:.*]] = xla.reduce %x, %[[START]]
// LOCAL: xla.all_reduce %[[SUM]]
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(
      %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %s: tensor<f32>) -> tensor<4xf32> {
    %0 = xla.reduce %x, %s {dimensions = [0]} : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %1 = xla.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
        xla.return %1 : tensor<f32>
      }
    func.return %0 : tensor<4xf32>
  }
}

// -----

// From one dimension to the other; and a sub-axis of 4 that moves while its other half stays.
// CHECK-LABEL: func.func @main
// CHECK: xla.copy %x attributes {sdy.reshard = "", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}, {"x":(2)2}]>]>}
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "all_to_all", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}, {"x":(2)2}]>]>
// COLLECTIVES-NOT: sdy.reshard
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4]>}} {
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)2}]>}) {
    func.return %x : tensor<8x4xf32>
  }
}

// -----

// A loop takes all rows of an array that is split: gathered before it, once.
// CHECK-LABEL: func.func @main
// CHECK: %[[ALL:.*]] = xla.copy %x attributes {sdy.reshard = "", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK: xla.while %{{.*}}, %[[ALL]], %{{.*}}<[<@mesh, []>, <@mesh, [{}, {}]>, <@mesh, [{}]>]>
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "all_gather"
// COLLECTIVES-NOT: sdy.reshard
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4xf32> {
    %c = xla.constant dense<0> : tensor<i32>
    %z = xla.constant dense<0.0> : tensor<4xf32>
    %0, %1, %2 = xla.while %c, %x, %z attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{}]>]>} : (tensor<i32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<8x4xf32>, tensor<4xf32>) condition (%i: tensor<i32>, %all: tensor<8x4xf32>, %sum: tensor<4xf32>) {
      %n = xla.constant dense<8> : tensor<i32>
      %3 = xla.compare %i, %n {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      xla.return %3 : tensor<i1>
    } body (%i_1: tensor<i32>, %all_1: tensor<8x4xf32>, %sum_1: tensor<4xf32>) {
      %one = xla.constant dense<1> : tensor<i32>
      %zero = xla.constant dense<0> : tensor<i32>
      %row = xla.dynamic_slice %all_1, %i_1, %zero {dynamic_slice_sizes = [1, 4]} : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %line = xla.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
      %next = xla.add %i_1, %one : tensor<i32>
      %more = xla.add %sum_1, %line : tensor<4xf32>
      xla.return %next, %all_1, %more : tensor<i32>, tensor<8x4xf32>, tensor<4xf32>
    }
    func.return %2 : tensor<4xf32>
  }
}

// -----

// Of two rows the folds are less.
// CHECK-LABEL: func.func @main
// CHECK: xla.while %{{.*}}, %x, %{{.*}}<[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{}]>]>
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "all_reduce"
// COLLECTIVES-NOT: sdy.reshard
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4xf32> {
    %c = xla.constant dense<0> : tensor<i32>
    %z = xla.constant dense<0.0> : tensor<4xf32>
    %0, %1, %2 = xla.while %c, %x, %z attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{}]>]>} : (tensor<i32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<8x4xf32>, tensor<4xf32>) condition (%i: tensor<i32>, %all: tensor<8x4xf32>, %sum: tensor<4xf32>) {
      %n = xla.constant dense<2> : tensor<i32>
      %3 = xla.compare %i, %n {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      xla.return %3 : tensor<i1>
    } body (%i_1: tensor<i32>, %all_1: tensor<8x4xf32>, %sum_1: tensor<4xf32>) {
      %one = xla.constant dense<1> : tensor<i32>
      %zero = xla.constant dense<0> : tensor<i32>
      %row = xla.dynamic_slice %all_1, %i_1, %zero {dynamic_slice_sizes = [1, 4]} : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %line = xla.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
      %next = xla.add %i_1, %one : tensor<i32>
      %more = xla.add %sum_1, %line : tensor<4xf32>
      xla.return %next, %all_1, %more : tensor<i32>, tensor<8x4xf32>, tensor<4xf32>
    }
    func.return %2 : tensor<4xf32>
  }
}

// -----

// What a loop needs in another sharding in each iteration, it is given so.
// CHECK-LABEL: func.func @main
// CHECK: %[[TURNED:.*]] = xla.copy %x attributes {sdy.reshard = "", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
// CHECK-NEXT: xla.while %{{.*}}, %[[TURNED]], %{{.*}}<[<@mesh, []>, <@mesh, [{}, {"x"}]>, <@mesh, [{}, {"x"}]>]>
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "all_to_all"
// COLLECTIVES: xla.while
// COLLECTIVES-NOT: sdy.reshard
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
    %c = xla.constant dense<0> : tensor<i32>
    %z = xla.constant dense<0.0> : tensor<8x4xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    %0, %1, %2 = xla.while %c, %x, %z attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{}, {"x"}]>]>} : (tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>) condition (%i: tensor<i32>, %all: tensor<8x4xf32>, %sum: tensor<8x4xf32>) {
      %n = xla.constant dense<8> : tensor<i32>
      %3 = xla.compare %i, %n {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      xla.return %3 : tensor<i1>
    } body (%i_1: tensor<i32>, %all_1: tensor<8x4xf32>, %sum_1: tensor<8x4xf32>) {
      %one = xla.constant dense<1> : tensor<i32>
      %next = xla.add %i_1, %one : tensor<i32>
      %more = xla.add %sum_1, %all_1 attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x4xf32>
      xla.return %next, %all_1, %more : tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>
    }
    func.return %2 : tensor<8x4xf32>
  }
}

// -----

// A loop adds terms to terms: the sum is made once, behind it.
// CHECK-LABEL: func.func @main
// CHECK: xla.while
// CHECK: %[[DOT:.*]] = xla.dot {{.*}}unreduced={"x"}
// CHECK-NEXT: %[[WIDE:.*]] = xla.convert %[[DOT]] {{.*}}unreduced={"x"}
// CHECK-NEXT: xla.add %{{.*}}, %[[WIDE]] {{.*}}unreduced={"x"}
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "replicated_to_unreduced"
// COLLECTIVES: xla.while
// COLLECTIVES: xla.dot
// COLLECTIVES-NEXT: xla.convert
// COLLECTIVES-NEXT: xla.add
// COLLECTIVES-NEXT: xla.return
// COLLECTIVES: sdy.reshard = "all_reduce"
// COLLECTIVES-NOT: sdy.reshard
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(
      %n: tensor<i32>,
      %x: tensor<4x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
      %w: tensor<8x4xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %y: tensor<4x4xf32>) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = xla.copy %y attributes {sdy.reshard = "", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>
    %1, %2, %3, %4 = xla.while %n, %x, %w, %0 : (tensor<i32>, tensor<4x8xbf16>, tensor<8x4xbf16>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x8xbf16>, tensor<8x4xbf16>, tensor<4x4xf32>) condition (%i: tensor<i32>, %a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>, %sum: tensor<4x4xf32>) {
        %5 = xla.constant dense<0> : tensor<i32>
        %6 = xla.compare %i, %5 {direction = GT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
        xla.return %6 : tensor<i1>
      } body (%i: tensor<i32>, %a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>, %sum: tensor<4x4xf32>) {
        %5 = xla.constant dense<1> : tensor<i32>
        %6 = xla.subtract %i, %5 : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %7 = xla.dot %a, %b {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
        %8 = xla.convert %7 attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x4xbf16>) -> tensor<4x4xf32>
        %9 = xla.add %sum, %8 attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        xla.return %6, %a, %b, %9 : tensor<i32>, tensor<4x8xbf16>, tensor<8x4xbf16>, tensor<4x4xf32>
      }
    func.return %4 : tensor<4x4xf32>
  }
}

// -----

// Terms of a sum are made of the maximum, not of what devices have of it.
// CHECK-LABEL: func.func @main
// CHECK: %[[MAX:.*]] = xla.reduce {{.*}}unreduced={"x"}
// CHECK: %[[ALL:.*]] = xla.copy %[[MAX]] attributes {sdy.reshard = "", sdy.reduction = "maximum", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// CHECK: xla.copy %[[ALL]] attributes {sdy.reshard = "", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
// COLLECTIVES-LABEL: func.func @main
// COLLECTIVES: sdy.reshard = "all_reduce", sdy.reduction = "maximum"
// COLLECTIVES: sdy.reshard = "replicated_to_unreduced"
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
    %0 = xla.constant dense<0xFF800000> : tensor<f32>
    %1 = xla.reduce %x, %0 {dimensions = [0]} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %2 = xla.maximum %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
        xla.return %2 : tensor<f32>
      }
    func.return %1 : tensor<4xf32>
  }
}
