func.func private @square(%x: tensor<i32>) -> tensor<i32> {
  %y = xla.multiply %x, %x : tensor<i32>
  func.return %y : tensor<i32>
}

func.func @call() -> tensor<i32> {
  %x = xla.constant dense<7> : tensor<i32>
  %result = xla.call %x {to_apply = @square} : tensor<i32>
  // i32=49
  func.return %result : tensor<i32>
}

// -----

func.func @fusion() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %result = xla.fusion %x {kind = kLoop} : tensor<2xf32> calls (%a: tensor<2xf32>) {
    %double = xla.add %a, %a : tensor<2xf32>
    %negated = xla.negate %double : tensor<2xf32>
    xla.return %negated : tensor<2xf32>
  }
  // 2xf32=[-2.0, -5.0]
  func.return %result : tensor<2xf32>
}

// -----

func.func @while() -> (tensor<i32>, tensor<2xf32>) {
  %zero = xla.constant dense<0> : tensor<i32>
  %zeros = xla.constant dense<0.0> : tensor<2xf32>
  %count, %total = xla.while %zero, %zeros : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) condition (%n: tensor<i32>, %sum: tensor<2xf32>) {
    %limit = xla.constant dense<1000> : tensor<i32>
    %more = xla.compare %n, %limit {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%n: tensor<i32>, %sum: tensor<2xf32>) {
    %one = xla.constant dense<1> : tensor<i32>
    %step = xla.constant dense<[0.5, 2.0]> : tensor<2xf32>
    %next = xla.add %n, %one : tensor<i32>
    %next_sum = xla.add %sum, %step : tensor<2xf32>
    xla.return %next, %next_sum : tensor<i32>, tensor<2xf32>
  }
  // i32=1000
  // 2xf32=[500.0, 2000.0]
  func.return %count, %total : tensor<i32>, tensor<2xf32>
}

// -----

func.func @conditional() -> tensor<i32> {
  %index = xla.constant dense<-1> : tensor<i32>
  %x = xla.constant dense<20> : tensor<i32>
  %result = xla.conditional %index, %x, %x : tensor<i32> branch (%a: tensor<i32>) {
    xla.return %a : tensor<i32>
  } branch (%a: tensor<i32>) {
    %default = xla.negate %a : tensor<i32>
    xla.return %default : tensor<i32>
  }
  // i32=-20
  func.return %result : tensor<i32>
}

// -----

func.func @scan() -> (tensor<3xi32>, tensor<i32>) {
  %x = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %carry = xla.constant dense<10> : tensor<i32>
  %outputs, %last = xla.scan %x, %carry {dimension = 0, num_carries = 1} : (tensor<3xi32>, tensor<i32>) -> (tensor<3xi32>, tensor<i32>) to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %sum = xla.add %a, %b : tensor<i32>
    xla.return %sum, %sum : tensor<i32>, tensor<i32>
  }
  // 3xi32=[11, 13, 16]
  // i32=16
  func.return %outputs, %last : tensor<3xi32>, tensor<i32>
}

// -----

func.func @opt_barrier() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %result = xla.opt_barrier %x : tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @return() -> tensor<2xi32> {
  %x = xla.constant dense<[1, 2]> : tensor<2xi32>
  %result = xla.fusion %x : tensor<2xi32> calls (%a: tensor<2xi32>) {
    xla.return %a : tensor<2xi32>
  }
  // 2xi32=[1, 2]
  func.return %result : tensor<2xi32>
}

// -----

func.func @domain() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %result = xla.domain %x {domain = "{kind=\22sharding\22, entry={maximal device=0}, exit={replicated}}"} : tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}
