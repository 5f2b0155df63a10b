// RUN: xla-opt %s -p xla-expand-communication --split-input-file --verify-diagnostics

func.func @tuples(%x: tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
  // expected-error @+1 {{xla-flatten-tuples takes tuples apart}}
  %y = xla.all_gather_start %x {dimension = 0 : i64} : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  func.return %y : tuple<tensor<2xf32>, tensor<2xf32>>
}

// -----

func.func @used(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y:2 = xla.collective_permute_start %x {source_target_pairs = #xla.source_target_pairs<{{0,0}}>} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  // expected-error @+1 {{uses what xla.collective_permute_start has not finished}}
  %z = xla.negate %y#1 : tensor<2xf32>
  %d = xla.collective_permute_done %y#0, %y#1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %z : tensor<2xf32>
}

// -----

func.func @returned(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y:2 = xla.collective_permute_start %x {source_target_pairs = #xla.source_target_pairs<{{0,0}}>} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  // expected-error @+1 {{the program returns what an asynchronous operation has not finished}}
  func.return %y#1 : tensor<2xf32>
}

// -----

func.func @from_elsewhere(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{nothing in the program began what it waits for}}
  %d = xla.collective_permute_done %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}
