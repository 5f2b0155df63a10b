"""LLVM IR of the function that puts arrays of the host onto a device; see `templates`."""

from __future__ import annotations

_SHAPES = """
; Shapes of row-major arrays that have come from the host, where their hashes say.
@known_shapes = global [256 x ptr] zeroinitializer

define ptr @shape_slot(i32 %type, ptr %sizes, i64 %rank) {
  %start = zext i32 %type to i64
  br label %loop
loop:
  %number = phi i64 [ 0, %0 ], [ %next, %mix ]
  %hash = phi i64 [ %start, %0 ], [ %mixed, %mix ]
  %product = mul i64 %hash, -7046029254386353131
  %is_end = icmp eq i64 %number, %rank
  br i1 %is_end, label %done, label %mix
mix:
  %at = getelementptr i64, ptr %sizes, i64 %number
  %size = load i64, ptr %at
  %mixed = add i64 %product, %size
  %next = add i64 %number, 1
  br label %loop
done:
  %place = lshr i64 %product, 56
  %slot = getelementptr ptr, ptr @known_shapes, i64 %place
  ret ptr %slot
}

; Whether an array of the host has a shape, and lies dense and row-major; `strides` may be null.
define i1 @lies_so(ptr %shape, i32 %type, ptr %sizes, i64 %rank, ptr %strides) {
  %is_unknown = icmp eq ptr %shape, null
  br i1 %is_unknown, label %no, label %compare
compare:
  %type_at = getelementptr i8, ptr %shape, i64 <Shape.element_type>
  %own_type = load i32, ptr %type_at
  %same_type = icmp eq i32 %own_type, %type
  %rank_at = getelementptr i8, ptr %shape, i64 <Shape.rank>
  %own_rank = load i64, ptr %rank_at
  %same_rank = icmp eq i64 %own_rank, %rank
  %own_sizes_at = getelementptr i8, ptr %shape, i64 <Shape.dimensions>
  %own_sizes = load ptr, ptr %own_sizes_at
  %item_size_at = getelementptr i8, ptr %shape, i64 <Shape.item_size>
  %item_size = load i64, ptr %item_size_at
  %is_dense = icmp eq ptr %strides, null
  %same = and i1 %same_type, %same_rank
  br i1 %same, label %loop, label %no
loop:
  %left = phi i64 [ %rank, %compare ], [ %number, %next ]
  %step = phi i64 [ %item_size, %compare ], [ %next_step, %next ]
  %is_end = icmp eq i64 %left, 0
  br i1 %is_end, label %yes, label %look
look:
  %number = sub i64 %left, 1
  %size_at = getelementptr i64, ptr %sizes, i64 %number
  %size = load i64, ptr %size_at
  %own_size_at = getelementptr i64, ptr %own_sizes, i64 %number
  %own_size = load i64, ptr %own_size_at
  %next_step = mul i64 %step, %size
  %same_size = icmp eq i64 %size, %own_size
  br i1 %same_size, label %stride, label %no
stride:
  %is_one = icmp eq i64 %size, 1
  %any_stride = or i1 %is_one, %is_dense
  br i1 %any_stride, label %next, label %look_at_stride
look_at_stride:
  %stride_at = getelementptr i64, ptr %strides, i64 %number
  %found = load i64, ptr %stride_at
  %same_stride = icmp eq i64 %found, %step
  br i1 %same_stride, label %next, label %no
next:
  br label %loop
yes:
  ret i1 1
no:
  ret i1 0
}

; Whether an array is large enough to be used where it lies, and the host allows that.
define i1 @is_lent(ptr %data, i64 %size, i32 %semantics) {
  %address = ptrtoint ptr %data to i64
  %over = urem i64 %address, <alignment>
  %is_aligned = icmp eq i64 %over, 0
  %is_large = icmp ugt i64 %size, <copied bytes>
  %is_allowed = icmp sge i32 %semantics, <zero copy>
  %fits = and i1 %is_aligned, %is_large
  %is_lent = and i1 %fits, %is_allowed
  ret i1 %is_lent
}
"""

_BODY = """
  %layout_at = getelementptr i8, ptr %args, i64 <Args.device_layout>
  %layout = load ptr, ptr %layout_at
  %is_default = icmp eq ptr %layout, null
  %strides_at = getelementptr i8, ptr %args, i64 <Args.byte_strides>
  %strides = load ptr, ptr %strides_at
  %strides_count_at = getelementptr i8, ptr %args, i64 <Args.num_byte_strides>
  %strides_count = load i64, ptr %strides_count_at
  %rank_at = getelementptr i8, ptr %args, i64 <Args.num_dims>
  %rank = load i64, ptr %rank_at
  %has_none = icmp eq ptr %strides, null
  %has_all = icmp eq i64 %strides_count, %rank
  %is_clear = or i1 %has_none, %has_all
  %is_plain = and i1 %is_default, %is_clear
  br i1 %is_plain, label %look_up, label %python
look_up:
  %type_at = getelementptr i8, ptr %args, i64 <Args.type>
  %type = load i32, ptr %type_at
  %sizes_at = getelementptr i8, ptr %args, i64 <Args.dims>
  %sizes = load ptr, ptr %sizes_at
  %slot = call ptr @shape_slot(i32 %type, ptr %sizes, i64 %rank)
  %shape = load ptr, ptr %slot
  %fits = call i1 @lies_so(ptr %shape, i32 %type, ptr %sizes, i64 %rank, ptr %strides)
  br i1 %fits, label %look_at_data, label %note
note:
  %new_at = getelementptr i8, ptr %args, i64 <Args.buffer>
  store ptr null, ptr %new_at
  %problem = call ptr @call_python(ptr %args, i64 <function>, ptr null)
  %new = load ptr, ptr %new_at
  %has_failed = icmp eq ptr %new, null
  br i1 %has_failed, label %failed, label %keep
keep:
  %new_shape_at = getelementptr i8, ptr %new, i64 <Buffer.shape>
  %new_shape = load ptr, ptr %new_shape_at
  store ptr %new_shape, ptr %slot
  ret ptr null
failed:
  ret ptr %problem
look_at_data:
  %data_at = getelementptr i8, ptr %args, i64 <Args.data>
  %data = load ptr, ptr %data_at
  %byte_size_at = getelementptr i8, ptr %shape, i64 <Shape.byte_size>
  %byte_size = load i64, ptr %byte_size_at
  %semantics_at = getelementptr i8, ptr %args, i64 <Args.host_buffer_semantics>
  %semantics = load i32, ptr %semantics_at
  %lent = call i1 @is_lent(ptr %data, i64 %byte_size, i32 %semantics)
  %memory_at = getelementptr i8, ptr %args, i64 <Args.memory>
  %memory = load ptr, ptr %memory_at
  %has_no_memory = icmp eq ptr %memory, null
  %is_for_python = or i1 %lent, %has_no_memory
  br i1 %is_for_python, label %python, label %make
make:
  %device_at = getelementptr i8, ptr %memory, i64 <Memory.device>
  %device = load ptr, ptr %device_at
  %made = call ptr @buffer_new(ptr %shape, ptr null, ptr %device, ptr %memory)
  %is_none = icmp eq ptr %made, null
  br i1 %is_none, label %python, label %copy
copy:
  %place_at = getelementptr i8, ptr %made, i64 <Buffer.data>
  %place = load ptr, ptr %place_at
  call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %data, i64 %byte_size, i1 0)
  %buffer_at = getelementptr i8, ptr %args, i64 <Args.buffer>
  store ptr %made, ptr %buffer_at
  %event_at = getelementptr i8, ptr %args, i64 <Args.done_with_host_buffer>
  store ptr @happened, ptr %event_at
  ret ptr null"""

FROM_HOST: dict[str, tuple[str, str]] = {"Client_BufferFromHostBuffer": (_SHAPES, _BODY)}
"""By the name of the function of the API: functions that it needs, and its body."""
