// RUN: xla-opt %s -t llvm | filecheck %s

// CHECK: define void @memory(ptr {{[^%]*}} %[[X:[^,]*]], ptr {{[^%]*}} %[[P:[^,]*]], i64 %[[I:[^,]*]], <8 x i1> %[[M:[^,)]*]])
func.func @memory(%x: memref<4x8xf32>, %p: memref<64xi1>, %i: index, %m: vector<8xi1>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[AT:.*]] = getelementptr inbounds [8 x float], ptr %[[X]], i64 %[[I]], i64 0
  // CHECK-NEXT: %[[V:.*]] = load <8 x float>, ptr %[[AT]], align 4
  %v = vector.load %x[%i, %c0] : memref<4x8xf32>, vector<8xf32>
  // CHECK: call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 4 %{{.*}}, <8 x i1> %[[M]], <8 x float> %[[V]])
  %w = vector.maskedload %x[%i, %c0], %m, %v : memref<4x8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  // CHECK: call void @llvm.masked.store.v8f32.p0(<8 x float> %[[V]], ptr align 4 %{{.*}}, <8 x i1> %[[M]])
  vector.maskedstore %x[%i, %c0], %m, %v : memref<4x8xf32>, vector<8xi1>, vector<8xf32>
  // CHECK: %[[BYTES:.*]] = load <8 x i8>, ptr %{{.*}}, align 1
  // CHECK-NEXT: icmp ne <8 x i8> %[[BYTES]], zeroinitializer
  %b = vector.load %p[%i] : memref<64xi1>, vector<8xi1>
  // CHECK: %[[ZEROS:.*]] = zext <8 x i1> %[[M]] to <8 x i8>
  // CHECK-NEXT: store <8 x i8> %[[ZEROS]], ptr %{{.*}}, align 1
  vector.store %m, %p[%i] : memref<64xi1>, vector<8xi1>
  func.return
}

// CHECK: define void @indexed(ptr {{[^%]*}} %[[X:[^,]*]], <4 x i32> %[[K:[^,]*]], <4 x i1> %[[M:[^,]*]], <4 x float> %[[V:[^,)]*]])
func.func @indexed(%x: memref<64xf32>, %k: vector<4xi32>, %m: vector<4xi1>, %v: vector<4xf32>) {
  %c3 = arith.constant 3 : index
  // CHECK: %[[AT:.*]] = getelementptr inbounds float, ptr %[[X]], i64 3
  // CHECK-NEXT: %[[ALL:.*]] = getelementptr float, ptr %[[AT]], <4 x i32> %[[K]]
  // CHECK-NEXT: call <4 x float> @llvm.masked.gather.v4f32.v4p0(<4 x ptr> align 4 %[[ALL]], <4 x i1> %[[M]], <4 x float> %[[V]])
  %g = vector.gather %x[%c3] [%k], %m, %v : memref<64xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  // CHECK: call void @llvm.masked.scatter.v4f32.v4p0(<4 x float> %[[V]], <4 x ptr> align 4 %{{.*}}, <4 x i1> %[[M]])
  vector.scatter %x[%c3] [%k], %m, %v : memref<64xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  func.return
}

// CHECK: define void @registers(<4 x float> %[[V:.*]], float %[[S:.*]], i64 %[[N:.*]])
func.func @registers(%v: vector<4xf32>, %s: f32, %n: index) {
  // CHECK: %[[FIRST:.*]] = insertelement <4 x float> poison, float %[[S]], i64 0
  // CHECK-NEXT: %[[B:.*]] = shufflevector <4 x float> %[[FIRST]], <4 x float> poison, <4 x i32> zeroinitializer
  %b = vector.broadcast %s : f32 to vector<4xf32>
  // CHECK-NEXT: call <4 x float> @llvm.fma.v4f32(<4 x float> %[[V]], <4 x float> %[[B]], <4 x float> splat (float 0x3FF0000000000000))
  %one = arith.constant dense<1.0> : vector<4xf32>
  %f = vector.fma %v, %b, %one : vector<4xf32>
  // CHECK-NEXT: shufflevector <4 x float> %[[V]], <4 x float> %[[B]], <2 x i32> <i32 1, i32 6>
  %u = vector.shuffle %v, %b [1, 6] : vector<4xf32>, vector<4xf32>
  // CHECK-NEXT: extractelement <4 x float> %[[V]], i64 2
  %e = vector.extract %v[2] : f32 from vector<4xf32>
  // CHECK-NEXT: insertelement <4 x float> %[[V]], float %[[S]], i64 %[[N]]
  %i = vector.insert %s, %v[%n] : f32 into vector<4xf32>
  // CHECK-NEXT: call reassoc float @llvm.vector.reduce.fadd.v4f32(float 0x8000000000000000, <4 x float> %[[V]])
  %r = vector.reduction <add>, %v fastmath<reassoc> : vector<4xf32> into f32
  // CHECK-NEXT: %[[MAX:.*]] = call float @llvm.vector.reduce.fmaximum.v4f32(<4 x float> %[[V]])
  // CHECK-NEXT: call float @llvm.maximum.f32(float %[[MAX]], float %[[S]])
  %m = vector.reduction <maximumf>, %v, %s : vector<4xf32> into f32
  // CHECK-NEXT: bitcast <4 x float> %[[V]] to <16 x i8>
  %c = vector.bitcast %v : vector<4xf32> to vector<16xi8>
  // CHECK-NEXT: %[[LOW:.*]] = call i64 @llvm.smin.i64(i64 %[[N]], i64 4)
  // CHECK-NEXT: %[[BOUND:.*]] = call i64 @llvm.smax.i64(i64 %[[LOW]], i64 0)
  // CHECK: icmp ugt <4 x i32> %{{.*}}, <i32 0, i32 1, i32 2, i32 3>
  %k = vector.create_mask %n : vector<4xi1>
  // CHECK-NEXT: ret void
  func.return
}

// CHECK: define void @transfers(ptr {{[^%]*}} %[[X:[^,]*]], i64 %[[I:[^,]*]], float %[[P:[^,)]*]])
func.func @transfers(%x: memref<10xf32>, %i: index, %p: f32) {
  // CHECK: %[[LEFT:.*]] = sub i64 10, %[[I]]
  // CHECK: %[[MASK:.*]] = icmp ugt <4 x i32>
  // CHECK: %[[V:.*]] = call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 4 %{{.*}}, <4 x i1> %[[MASK]], <4 x float> %{{.*}})
  %v = vector.transfer_read %x[%i], %p : memref<10xf32>, vector<4xf32>
  // CHECK: store <4 x float> %[[V]], ptr %{{.*}}, align 4
  vector.transfer_write %v, %x[%i] {in_bounds = [true]} : vector<4xf32>, memref<10xf32>
  func.return
}
