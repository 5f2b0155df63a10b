// RUN: xla-run %s --all-functions --backend reference

// Folds over the processes of a group, in its order; groups may differ in size.

func.func private @pair(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0,1}}>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<2xf32>
}

func.func private @groups(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0},{1,2,3}}>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<2xf32>
}

func.func private @largest(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{}>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.maximum %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<2xf32>
}

func.func @worked() {
  %a = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %b = xla.constant dense<[3.0, 5.25]> : tensor<2xf32>
  %both:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@pair], [@pair]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %both#0, dense<[4.0, 7.75]> : tensor<2xf32>
  check.expect_eq_const %both#1, dense<[4.0, 7.75]> : tensor<2xf32>
  func.return
}

func.func @worked_groups() {
  %x0 = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %x1 = xla.constant dense<[11.0, 12.0]> : tensor<2xf32>
  %x2 = xla.constant dense<[21.0, 22.0]> : tensor<2xf32>
  %x3 = xla.constant dense<[31.0, 32.0]> : tensor<2xf32>
  %in_groups:4 = "interpreter.run_parallel"(%x0, %x1, %x2, %x3) {programs = [[@groups], [@groups], [@groups], [@groups]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %in_groups#0, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %in_groups#1, dense<[63.0, 66.0]> : tensor<2xf32>
  check.expect_eq_const %in_groups#2, dense<[63.0, 66.0]> : tensor<2xf32>
  check.expect_eq_const %in_groups#3, dense<[63.0, 66.0]> : tensor<2xf32>
  %nan = xla.constant dense<[0x7FC00000, -0.0]> : tensor<2xf32>
  %all:4 = "interpreter.run_parallel"(%x0, %nan, %x2, %x3) {programs = [[@largest], [@largest], [@largest], [@largest]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %all#2, dense<[0x7FC00000, 32.0]> : tensor<2xf32>
  func.return
}

// for i32 in types
func.func private @typed(%x: tensor<3xi32>) -> tensor<3xi32> {
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{}>} : tensor<3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %0 : tensor<3xi32>
}

// for i32 in types
func.func @types() -> (tensor<3xi32>, tensor<3xi32>) {
  %first = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %second = xla.constant dense<[2, 100, -100]> : tensor<3xi64>
  %x = xla.convert %first : (tensor<3xi64>) -> tensor<3xi32>
  %y = xla.convert %second : (tensor<3xi64>) -> tensor<3xi32>
  %r:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@typed], [@typed]]} : (tensor<3xi32>, tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>)
  func.return %r#0, %r#1 : tensor<3xi32>, tensor<3xi32>
}

func.func private @several(%x: tensor<2xf32>, %y: tensor<f32>) -> (tensor<2xf32>, tensor<f32>) {
  %0:2 = xla.all_reduce %x, %y {replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>) to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0#0, %0#1 : tensor<2xf32>, tensor<f32>
}

func.func @several_operands() -> (tensor<2xf32>, tensor<f32>) {
  %a = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %b = xla.constant dense<3.0> : tensor<f32>
  %r:4 = "interpreter.run_parallel"(%a, %b, %a, %b) {programs = [[@several], [@several]]} : (tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<f32>)
  check.expect_eq_const %r#2, dense<[2.0, 5.0]> : tensor<2xf32>
  check.expect_eq_const %r#3, dense<6.0> : tensor<f32>
  func.return %r#0, %r#1 : tensor<2xf32>, tensor<f32>
}

func.func private @columns(%x: tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{}>} : tensor<2x3xi32, #xla.layout<{0,1}>> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @column_major() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %r:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@columns], [@columns]]} : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>) -> (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32, #xla.layout<{0,1}>>)
  func.return %r#0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func private @nothing(%x: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{}>} : tensor<2x0xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<2x0xf32>
}

func.func @sizes() -> tensor<2x0xf32> {
  %x = xla.constant dense<> : tensor<2x0xf32>
  %r:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@nothing], [@nothing]]} : (tensor<2x0xf32>, tensor<2x0xf32>) -> (tensor<2x0xf32>, tensor<2x0xf32>)
  func.return %r#0 : tensor<2x0xf32>
}
