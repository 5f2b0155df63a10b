// RUN: xla-opt %s --split-input-file -t hlo --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file -t hlo --verify-diagnostics | xla-opt -f hlo --split-input-file -t hlo | filecheck %s

// What the dialect says in another form than HLO text, and what HLO text cannot say. What is
// printed is read, and printed as the same again.

// Values without a name are called by what makes them; HLO's names have no `$`, are no types, and
// count with a dot.

// CHECK-LABEL: ENTRY %names 
// CHECK-NEXT:    %Arg_0 = f32[] parameter(0)
// CHECK-NEXT:    %f32_ = f32[] parameter(1)
// CHECK-NEXT:    %x_y = f32[] parameter(2)
// CHECK-NEXT:    %add = f32[] add(%Arg_0, %f32_)
// CHECK-NEXT:    %a = f32[] add(%add, %x_y)
// CHECK-NEXT:    %a.1 = f32[] add(%a, %a)
// CHECK-NEXT:    ROOT %add.1 = f32[] add(%a.1, %a.1)
func.func @names(%0: tensor<f32>, %f32: tensor<f32>, %x$y: tensor<f32>) -> tensor<f32> {
  %1 = xla.add %0, %f32 : tensor<f32>
  %a = xla.add %1, %x$y : tensor<f32>
  %a_1 = xla.add %a, %a : tensor<f32>
  %2 = xla.add %a_1, %a_1 : tensor<f32>
  func.return %2 : tensor<f32>
}

// -----

// A made-up name gives way to the same name of the program, though that comes later.

// CHECK-LABEL: ENTRY %made_up 
// CHECK:         %add.1 = f32[] add(%x, %x)
// CHECK-NEXT:    ROOT %add = f32[] add(%add.1, %add.1)
func.func @made_up(%x: tensor<f32>) -> tensor<f32> {
  %0 = xla.add %x, %x : tensor<f32>
  %add = xla.add %0, %0 : tensor<f32>
  func.return %add : tensor<f32>
}

// -----

// Several results are a tuple, taken apart where they are used.

// CHECK-LABEL: ENTRY %several 
// CHECK:         %v = (f32[2]{0}, s32[2]{0}) topk(%x), k=2, largest=true
// CHECK-NEXT:    %i = s32[2]{0} get-tuple-element(%v), index=1
// CHECK-NEXT:    %n = s32[2]{0} negate(%i)
// CHECK-NEXT:    %v.1 = f32[2]{0} get-tuple-element(%v), index=0
// CHECK-NEXT:    ROOT %tuple = (f32[2]{0}, s32[2]{0}) tuple(%v.1, %n)
func.func @several(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %v, %i = xla.topk %x {k = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  %n = xla.negate %i : tensor<2xi32>
  func.return %v, %n : tensor<2xf32>, tensor<2xi32>
}

// -----

// All of them in their order are the tuple itself.

// CHECK-LABEL: ENTRY %whole 
// CHECK:         ROOT %v = (f32[2]{0}, s32[2]{0}) topk(%x), k=2, largest=true
// CHECK-NEXT:  }
func.func @whole(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %v, %i = xla.topk %x {k = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  func.return %v, %i : tensor<2xf32>, tensor<2xi32>
}

// -----

// No results are a tuple of none.

// CHECK-LABEL: ENTRY %none 
// CHECK-NEXT:    ROOT %tuple = () tuple()
// CHECK-NEXT:  }
func.func @none() {
  func.return
}

// -----

// The context of a transfer has one user, its `send-done`, and goes there as a whole.

// CHECK-LABEL: ENTRY %context 
// CHECK:         %send = (f32[2]{0}, u32[], token[]) send(%x, %t), channel_id=4, is_host_transfer=true
// CHECK-NEXT:    ROOT %s = token[] send-done(%send), channel_id=4, is_host_transfer=true
// CHECK-NEXT:  }
func.func @context(%x: tensor<2xf32>, %t: !xla.token) -> !xla.token {
  %0, %1, %2 = xla.send %x, %t {channel_id = 4, is_host_transfer = true} : (tensor<2xf32>, !xla.token) -> (tensor<2xf32>, tensor<ui32>, !xla.token)
  %s = xla.send_done %0, %1, %2 {channel_id = 4, is_host_transfer = true} : (tensor<2xf32>, tensor<ui32>, !xla.token) -> !xla.token
  func.return %s : !xla.token
}

// -----

// A dictionary is what calls of XLA's typed interface are configured with.

// CHECK-LABEL: ENTRY %dictionary 
// CHECK:         ROOT %custom-call = f32[2]{0} custom-call(%x), custom_call_target="f", api_version=API_VERSION_TYPED_FFI, backend_config={a = 7 : ui8}
func.func @dictionary(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = xla.custom_call %x {custom_call_target = "f", api_version = API_VERSION_TYPED_FFI} attributes {xla.backend_config = {a = 7 : ui8}} : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// Functions are computations, before what calls them; those that nothing calls stay.

// CHECK-LABEL: %pair (x: f32[]) -> (f32[], f32[]) {
// CHECK:         ROOT %tuple = (f32[], f32[]) tuple(%x, %x)
// CHECK:       %unused (x: f32[]) -> f32[] {
// CHECK-NEXT:    ROOT %x = f32[] parameter(0)
// CHECK:       ENTRY %main (x: f32[]) -> f32[] {
// CHECK:         %a = (f32[], f32[]) call(%x), to_apply=%pair
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %a, %b = func.call @pair(%x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %c = xla.add %a, %b : tensor<f32>
  func.return %c : tensor<f32>
}
func.func private @pair(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  func.return %x, %x : tensor<f32>, tensor<f32>
}
func.func private @unused(%x: tensor<f32>) -> tensor<f32> {
  func.return %x : tensor<f32>
}

// -----

// What StableHLO keeps of a module, in HLO's words.

// CHECK-LABEL: HloModule jit_f
// CHECK-SAME:    , input_output_alias={ {1}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }, entry_computation_layout=
// CHECK-SAME:    , num_partitions=4{{$}}
// CHECK:         %x = f32[4]{0} parameter(0), sharding={replicated}
// CHECK:         %add = f32[4]{0} add(%x, %y), frontend_attributes={a="b\"c"}
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 1 : i32, mhlo.sharding = #xla.hlo_sharding<{replicated}>},
                  %y: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = xla.add %x, %y attributes {mhlo.frontend_attributes = {a = "b\22c"}} : tensor<4xf32>
    func.return %0, %x : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A scalar stays one: its elements are not written.

// CHECK-LABEL: ENTRY %splat 
// CHECK-NEXT:    %constant = f32[] constant(1.5)
// CHECK-NEXT:    ROOT %broadcast = f32[1024,1025]{1,0} broadcast(%constant), dimensions={}
func.func @splat() -> tensor<1024x1025xf32> {
  %0 = xla.constant dense<1.5> : tensor<f32>
  %1 = xla.broadcast %0 : (tensor<f32>) -> tensor<1024x1025xf32>
  func.return %1 : tensor<1024x1025xf32>
}
