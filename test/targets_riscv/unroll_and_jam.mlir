// RUN: xla-opt %s -p 'scf-unroll-and-jam{columns=2 rows=1 whole=4 steps=2}' | filecheck %s

// Two columns together, the reduction in steps of two, what is left over after it.

// CHECK-LABEL: @reduction
// CHECK: scf.for [[I:%.+]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: [[I1:%.+]] = arith.addi [[I]], %{{.*}} : index
// CHECK: [[E0:%.+]], [[E1:%.+]] = scf.for [[K:%.+]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args([[S:%.+]] = %{{.*}}, [[T:%.+]] = %{{.*}}) -> (f64, f64) {
// CHECK: [[K1:%.+]] = arith.addi [[K]]
// CHECK-DAG: memref.load %{{.*}}[[[I]], [[K]]]
// CHECK-DAG: memref.load %{{.*}}[[[I1]], [[K]]]
// CHECK-DAG: memref.load %{{.*}}[[[I]], [[K1]]]
// CHECK-DAG: memref.load %{{.*}}[[[I1]], [[K1]]]
// CHECK: scf.yield
// CHECK: scf.for {{.*}} iter_args({{.*}} = [[E0]], {{.*}} = [[E1]])
// CHECK: memref.store %{{.*}}, %{{.*}}[[[I]]]
// CHECK: memref.store %{{.*}}, %{{.*}}[[[I1]]]
func.func @reduction(%a: memref<8x9xf64>, %b: memref<8xf64>) attributes {xla.kernel} {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %sum = scf.for %k = %c0 to %c9 step %c1 iter_args(%s = %zero) -> (f64) {
      %x = memref.load %a[%i, %k] : memref<8x9xf64>
      %t = arith.addf %s, %x : f64
      scf.yield %t : f64
    }
    memref.store %sum, %b[%i] : memref<8xf64>
  }
  func.return
}

// What is stored is loaded by the next iteration: it stays as it is.

// CHECK-LABEL: @running
// CHECK-COUNT-1: memref.store
// CHECK-NOT: memref.store
// CHECK: func.return
func.func @running(%b: memref<101xf64>) attributes {xla.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %next = arith.addi %i, %c1 : index
    %x = memref.load %b[%i] : memref<101xf64>
    %y = memref.load %b[%next] : memref<101xf64>
    %sum = arith.addf %x, %y : f64
    memref.store %sum, %b[%next] : memref<101xf64>
  }
  func.return
}

// Nothing says that the arguments do not overlap.

// CHECK-LABEL: @overlapping
// CHECK-COUNT-1: memref.store
// CHECK-NOT: memref.store
// CHECK: func.return
func.func @overlapping(%a: memref<100xf64>, %b: memref<100xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %x = memref.load %a[%i] : memref<100xf64>
    memref.store %x, %b[%i] : memref<100xf64>
  }
  func.return
}

// A loop inside whose length the loop around decides.

// CHECK-LABEL: @triangle
// CHECK-COUNT-1: memref.store
// CHECK-NOT: memref.store
// CHECK: func.return
func.func @triangle(%a: memref<100x100xf64>, %b: memref<100xf64>) attributes {xla.kernel} {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %sum = scf.for %k = %c0 to %i step %c1 iter_args(%s = %zero) -> (f64) {
      %x = memref.load %a[%i, %k] : memref<100x100xf64>
      %t = arith.addf %s, %x : f64
      scf.yield %t : f64
    }
    memref.store %sum, %b[%i] : memref<100xf64>
  }
  func.return
}

// CHECK-LABEL: @short
// CHECK-NOT: scf.for
// CHECK-COUNT-3: memref.store
func.func @short(%b: memref<3xf64>) attributes {xla.kernel} {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    memref.store %zero, %b[%i] : memref<3xf64>
  }
  func.return
}
