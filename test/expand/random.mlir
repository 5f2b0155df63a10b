// RUN: xla-opt %s -p xla-expand-compound --split-input-file | filecheck %s

// xla-update-checks: CHECK @rng_bit_generator filter=concatenate|bitcast_convert|return
// CHECK-LABEL:   func.func @rng_bit_generator(%state: tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>) {
// CHECK:           %{{.*}} = xla.concatenate %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {dimension = 1} : (tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x4xui32>
// CHECK:           %next = xla.concatenate %{{.*}}, %{{.*}}, %{{.*}} {dimension = 0} : (tensor<1xui64>, tensor<1xui64>, tensor<1xui64>) -> tensor<3xui64>
// CHECK-NEXT:      %bits = xla.bitcast_convert %{{.*}} : tensor<2x3xui32>
// CHECK-NEXT:      func.return %next, %bits : tensor<3xui64>, tensor<2x3xui32>
func.func @rng_bit_generator(%state: tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>) {
  %next, %bits = xla.rng_bit_generator %state {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>)
  func.return %next, %bits : tensor<3xui64>, tensor<2x3xui32>
}
