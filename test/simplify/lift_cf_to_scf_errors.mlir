// RUN: not xla-opt %s -p lift-cf-to-scf --split-input-file 2>&1 | filecheck %s

// CHECK: func.func: 1, {{.*}}errors.mlir:4:1 (a way through its blocks leaves tensor<?xf32> undefined)
func.func @unknown_size(%c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  cf.br ^again
^again:
  cf.br ^again
}
