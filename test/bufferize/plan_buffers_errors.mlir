// RUN: not xla-opt %s -p xla-plan-buffers 2>&1 | filecheck %s

// CHECK:      xla-plan-buffers: 2 operations are left unconverted
// CHECK-NEXT:   memref.alloc: 2, {{.*}}errors.mlir:6:3 (its size is not static), {{.*}} (it has a layout)
func.func @main(%n: index) attributes {xla.entry} {
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc() : memref<4xf32, strided<[2]>>
  return
}
