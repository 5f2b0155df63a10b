// RUN: xla-opt %s | xla-opt | filecheck %s
// RUN: xla-opt %s --mlir-print-op-generic | xla-opt | filecheck %s
// What MLIR allows in arith and vector, and xDSL 0.74.0 does not.

// CHECK-LABEL: func.func @casts
func.func @casts(%i: vector<4xi32>, %f: vector<4xf32>, %n: vector<4xindex>, %t: tensor<2x?xi8>) {
  // CHECK-NEXT: arith.extsi %{{.*}} : vector<4xi32> to vector<4xi64>
  %0 = arith.extsi %i : vector<4xi32> to vector<4xi64>
  // CHECK-NEXT: arith.extui %{{.*}} : tensor<2x?xi8> to tensor<2x?xi16>
  %1 = arith.extui %t : tensor<2x?xi8> to tensor<2x?xi16>
  // CHECK-NEXT: arith.trunci %{{.*}} : vector<4xi32> to vector<4xi1>
  %2 = arith.trunci %i : vector<4xi32> to vector<4xi1>
  // CHECK-NEXT: arith.trunci %{{.*}} overflow<nsw,nuw> : vector<4xi32> to vector<4xi8>
  %3 = arith.trunci %i overflow<nsw,nuw> : vector<4xi32> to vector<4xi8>
  // CHECK-NEXT: arith.fptosi %{{.*}} : vector<4xf32> to vector<4xi32>
  %4 = arith.fptosi %f : vector<4xf32> to vector<4xi32>
  // CHECK-NEXT: arith.fptoui %{{.*}} {xla.saturating} : vector<4xf32> to vector<4xi32>
  %5 = arith.fptoui %f {xla.saturating} : vector<4xf32> to vector<4xi32>
  // CHECK-NEXT: arith.sitofp %{{.*}} : vector<4xi32> to vector<4xf64>
  %6 = arith.sitofp %i : vector<4xi32> to vector<4xf64>
  // CHECK-NEXT: arith.uitofp %{{.*}} : vector<4xi32> to vector<4xbf16>
  %7 = arith.uitofp %i : vector<4xi32> to vector<4xbf16>
  // CHECK-NEXT: arith.index_cast %{{.*}} : vector<4xi32> to vector<4xindex>
  %8 = arith.index_cast %i : vector<4xi32> to vector<4xindex>
  // CHECK-NEXT: arith.index_castui %{{.*}} : vector<4xindex> to vector<4xi32>
  %9 = arith.index_castui %n : vector<4xindex> to vector<4xi32>
  func.return
}

// CHECK-LABEL: func.func @choices
func.func @choices(%c: i1, %m: vector<4xi1>, %v: vector<4xf32>, %n: vector<4xindex>, %x: f32) {
  // CHECK-NEXT: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xf32>
  %0 = arith.select %c, %v, %v : vector<4xf32>
  // CHECK-NEXT: arith.select %{{.*}}, %{{.*}}, %{{.*}} {kept} : vector<4xi1>, vector<4xf32>
  %1 = arith.select %m, %v, %v {kept} : vector<4xi1>, vector<4xf32>
  // CHECK-NEXT: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
  %2 = arith.select %c, %x, %x : f32
  // CHECK-NEXT: %[[LESS:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : vector<4xf32>
  %3 = arith.cmpf olt, %v, %v : vector<4xf32>
  // CHECK-NEXT: %[[EQUAL:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : vector<4xindex>
  %4 = arith.cmpi eq, %n, %n : vector<4xindex>
  // CHECK-NEXT: arith.andi %[[LESS]], %[[EQUAL]] : vector<4xi1>
  %5 = arith.andi %3, %4 : vector<4xi1>
  // CHECK-NEXT: arith.remf %{{.*}}, %{{.*}} fastmath<nnan> : vector<4xf32>
  %6 = arith.remf %v, %v fastmath<nnan> : vector<4xf32>
  func.return
}

// CHECK-LABEL: func.func @vectors
func.func @vectors(%x: memref<8x8xf32>, %i: index, %m: vector<4xi1>, %v: vector<4xf32>, %at: vector<4xindex>) {
  // CHECK-NEXT: vector.gather %{{.*}}[%{{.*}}, %{{.*}}] [%{{.*}}], %{{.*}}, %{{.*}} : memref<8x8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %1 = vector.gather %x[%i, %i] [%at], %m, %v : memref<8x8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  // CHECK-NEXT: vector.scatter %{{.*}}[%{{.*}}, %{{.*}}] [%{{.*}}], %{{.*}}, %{{.*}} : memref<8x8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32>
  vector.scatter %x[%i, %i] [%at], %m, %v : memref<8x8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32>
  func.return
}
