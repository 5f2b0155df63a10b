"""
LLVM IR of the functions that are more than reading a field.

`<Record.field>` stands for the distance of a field from the start of its struct, `<Record>` for the
size of one; `%args` are the arguments of the function, `%python` calls Python's instead.
"""

from __future__ import annotations

from lowerings.pjrt.execute_template import BODY, FOR_DEVICES
from lowerings.pjrt.run_template import RUN

_NEW = """
define void @free_data(ptr %data, ptr %argument) {
  call void @free(ptr %data)
  ret void
}

; A buffer; allocates its data if they are null, with some bytes more than needed.
define ptr @buffer_new(ptr %shape, ptr %given, ptr %device, ptr %memory) {
  %is_given = icmp ne ptr %given, null
  br i1 %is_given, label %record, label %allocate
allocate:
  %size_at = getelementptr i8, ptr %shape, i64 <Shape.byte_size>
  %size = load i64, ptr %size_at
  %enough = add i64 %size, 64
  %whole = and i64 %enough, -64
  %new = call ptr @aligned_alloc(i64 64, i64 %whole)
  %has_failed = icmp eq ptr %new, null
  br i1 %has_failed, label %none, label %record
none:
  ret ptr null
record:
  %data = phi ptr [ %given, %0 ], [ %new, %allocate ]
  %buffer = call ptr @malloc(i64 <Buffer>)
  %shape_at = getelementptr i8, ptr %buffer, i64 <Buffer.shape>
  store ptr %shape, ptr %shape_at
  %data_at = getelementptr i8, ptr %buffer, i64 <Buffer.data>
  store ptr %data, ptr %data_at
  %device_at = getelementptr i8, ptr %buffer, i64 <Buffer.device>
  store ptr %device, ptr %device_at
  %memory_at = getelementptr i8, ptr %buffer, i64 <Buffer.memory>
  store ptr %memory, ptr %memory_at
  %ready_at = getelementptr i8, ptr %buffer, i64 <Buffer.ready>
  store ptr @happened, ptr %ready_at
  %release_at = getelementptr i8, ptr %buffer, i64 <Buffer.release>
  store ptr @free_data, ptr %release_at
  %argument_at = getelementptr i8, ptr %buffer, i64 <Buffer.release_argument>
  store ptr null, ptr %argument_at
  %references_at = getelementptr i8, ptr %buffer, i64 <Buffer.references>
  store i64 0, ptr %references_at
  %deleted_at = getelementptr i8, ptr %buffer, i64 <Buffer.is_deleted>
  store i8 0, ptr %deleted_at
  %destroyed_at = getelementptr i8, ptr %buffer, i64 <Buffer.is_destroyed>
  store i8 0, ptr %destroyed_at
  ret ptr %buffer
}
"""

_DELETE = """
define void @buffer_release(ptr %buffer) {
  %data_at = getelementptr i8, ptr %buffer, i64 <Buffer.data>
  %data = load ptr, ptr %data_at
  store ptr null, ptr %data_at
  %release_at = getelementptr i8, ptr %buffer, i64 <Buffer.release>
  %release = load ptr, ptr %release_at
  %has_none = icmp eq ptr %release, null
  br i1 %has_none, label %done, label %call
call:
  %argument_at = getelementptr i8, ptr %buffer, i64 <Buffer.release_argument>
  %argument = load ptr, ptr %argument_at
  call void %release(ptr %data, ptr %argument)
  br label %done
done:
  ret void
}

define void @buffer_delete(ptr %buffer) {
  %deleted_at = getelementptr i8, ptr %buffer, i64 <Buffer.is_deleted>
  %deleted = load i8, ptr %deleted_at
  %was_deleted = icmp ne i8 %deleted, 0
  br i1 %was_deleted, label %done, label %mark
mark:
  store i8 1, ptr %deleted_at
  %references_at = getelementptr i8, ptr %buffer, i64 <Buffer.references>
  %references = load atomic i64, ptr %references_at acquire, align 8
  %is_free = icmp eq i64 %references, 0
  br i1 %is_free, label %release, label %done
release:
  call void @buffer_release(ptr %buffer)
  br label %done
done:
  ret void
}
"""

_DESTROY = """
define void @buffer_destroy(ptr %buffer) {
  call void @buffer_delete(ptr %buffer)
  %references_at = getelementptr i8, ptr %buffer, i64 <Buffer.references>
  %references = load atomic i64, ptr %references_at acquire, align 8
  %is_free = icmp eq i64 %references, 0
  br i1 %is_free, label %free, label %mark
free:
  call void @free(ptr %buffer)
  ret void
mark:
  %destroyed_at = getelementptr i8, ptr %buffer, i64 <Buffer.is_destroyed>
  store i8 1, ptr %destroyed_at
  ret void
}
"""

_HOLD = """
define void @buffer_hold(ptr %buffer) {
  %references_at = getelementptr i8, ptr %buffer, i64 <Buffer.references>
  %before = atomicrmw add ptr %references_at, i64 1 acq_rel
  ret void
}
"""

_DROP = """
define void @buffer_drop(ptr %buffer) {
  %references_at = getelementptr i8, ptr %buffer, i64 <Buffer.references>
  %before = atomicrmw sub ptr %references_at, i64 1 acq_rel
  %is_last = icmp eq i64 %before, 1
  br i1 %is_last, label %last, label %done
last:
  %deleted_at = getelementptr i8, ptr %buffer, i64 <Buffer.is_deleted>
  %deleted = load i8, ptr %deleted_at
  %is_deleted = icmp ne i8 %deleted, 0
  br i1 %is_deleted, label %release, label %done
release:
  call void @buffer_release(ptr %buffer)
  %destroyed_at = getelementptr i8, ptr %buffer, i64 <Buffer.is_destroyed>
  %destroyed = load i8, ptr %destroyed_at
  %is_destroyed = icmp ne i8 %destroyed, 0
  br i1 %is_destroyed, label %free, label %done
free:
  call void @free(ptr %buffer)
  br label %done
done:
  ret void
}
"""


def _on_buffer(function: str) -> str:
    return f"""
  %buffer_at = getelementptr i8, ptr %args, i64 <Args.buffer>
  %buffer = load ptr, ptr %buffer_at
  call void @{function}(ptr %buffer)
  ret ptr null"""


BUFFERS: dict[str, tuple[str, str]] = {
    "Buffer_Delete": (_NEW + _DELETE, _on_buffer("buffer_delete")),
    "Buffer_Destroy": (_DESTROY, _on_buffer("buffer_destroy")),
    "Buffer_IncreaseExternalReferenceCount": (_HOLD, _on_buffer("buffer_hold")),
    "Buffer_DecreaseExternalReferenceCount": (_DROP, _on_buffer("buffer_drop")),
}
"""By the name of the function of the API: functions that it needs, and its body."""

_SERIALIZE = """
  %layout_at = getelementptr i8, ptr %args, i64 <Args.layout>
  %layout = load ptr, ptr %layout_at
  %text_at = getelementptr i8, ptr %layout, i64 <Layout.text>
  %text = load ptr, ptr %text_at
  %bytes_at = getelementptr i8, ptr %args, i64 <Args.serialized_bytes>
  store ptr %text, ptr %bytes_at
  %text_size_at = getelementptr i8, ptr %layout, i64 <Layout.text_size>
  %text_size = load i64, ptr %text_size_at
  %size_at = getelementptr i8, ptr %args, i64 <Args.serialized_bytes_size>
  store i64 %text_size, ptr %size_at
  %owner_at = getelementptr i8, ptr %args, i64 <Args.serialized_layout>
  store ptr %layout, ptr %owner_at
  %deleter_at = getelementptr i8, ptr %args, i64 <Args.serialized_layout_deleter>
  store ptr @keep_layout, ptr %deleter_at
  ret ptr null"""

_KEEP_LAYOUT = """
define void @keep_layout(ptr %layout) {
  ret void
}
"""

LAYOUTS: dict[str, tuple[str, str]] = {
    "Layouts_MemoryLayout_Serialize": (_KEEP_LAYOUT, _SERIALIZE),
    "Layouts_MemoryLayout_Destroy": ("", "  ret ptr null"),
}
"""As `BUFFERS`: layouts stay, with the shapes that have them."""

_DONATE = """
; The data of a buffer that is given away, null where others refer to them.
define ptr @donated_data(ptr %buffer) {
  %references_at = getelementptr i8, ptr %buffer, i64 <Buffer.references>
  %references = load atomic i64, ptr %references_at acquire, align 8
  %is_ours = icmp eq i64 %references, 1
  %release_at = getelementptr i8, ptr %buffer, i64 <Buffer.release>
  %release = load ptr, ptr %release_at
  %is_allocated = icmp eq ptr %release, @free_data
  %can_be_taken = and i1 %is_ours, %is_allocated
  %data_at = getelementptr i8, ptr %buffer, i64 <Buffer.data>
  %data = load ptr, ptr %data_at
  %taken = select i1 %can_be_taken, ptr %data, ptr null
  ret ptr %taken
}

; Leaves the data of a buffer to another.
define void @buffer_leave(ptr %buffer) {
  %data_at = getelementptr i8, ptr %buffer, i64 <Buffer.data>
  store ptr null, ptr %data_at
  %release_at = getelementptr i8, ptr %buffer, i64 <Buffer.release>
  store ptr null, ptr %release_at
  ret void
}

define i64 @donor_of(ptr %executable, i64 %result) {
  %donors_at = getelementptr i8, ptr %executable, i64 <Loaded.donors>
  %donors = load ptr, ptr %donors_at
  %has_none = icmp eq ptr %donors, null
  br i1 %has_none, label %none, label %look
look:
  %at = getelementptr i64, ptr %donors, i64 %result
  %donor = load i64, ptr %at
  ret i64 %donor
none:
  ret i64 <not donated>
}

; Whether a buffer is more than one of the arguments: then it cannot be given away.
define i1 @is_given_twice(ptr %executable, ptr %list, ptr %given) {
  %count_at = getelementptr i8, ptr %executable, i64 <Loaded.parameter_count>
  %count = load i64, ptr %count_at
  br label %loop
loop:
  %number = phi i64 [ 0, %0 ], [ %next, %compare ]
  %found = phi i64 [ 0, %0 ], [ %found_next, %compare ]
  %is_end = icmp eq i64 %number, %count
  br i1 %is_end, label %done, label %compare
compare:
  %at = getelementptr ptr, ptr %list, i64 %number
  %other = load ptr, ptr %at
  %is_same = icmp eq ptr %other, %given
  %one = zext i1 %is_same to i64
  %found_next = add i64 %found, %one
  %next = add i64 %number, 1
  br label %loop
done:
  %is_twice = icmp ugt i64 %found, 1
  ret i1 %is_twice
}

; The buffer of a result: in the memory of what is given away for it, or with a copy of that; null
; where there is no memory, and where what is given away is an argument twice.
define ptr @result_new(ptr %executable, ptr %list, i64 %number) {
  %shapes_at = getelementptr i8, ptr %executable, i64 <Loaded.result_shapes>
  %shapes = load ptr, ptr %shapes_at
  %shape_at = getelementptr ptr, ptr %shapes, i64 %number
  %shape = load ptr, ptr %shape_at
  %device_at = getelementptr i8, ptr %executable, i64 <Loaded.device>
  %device = load ptr, ptr %device_at
  %memories_at = getelementptr i8, ptr %executable, i64 <Loaded.result_memories>
  %memories = load ptr, ptr %memories_at
  %memory_at = getelementptr ptr, ptr %memories, i64 %number
  %memory = load ptr, ptr %memory_at
  %donor = call i64 @donor_of(ptr %executable, i64 %number)
  %is_donated = icmp sge i64 %donor, 0
  br i1 %is_donated, label %donated, label %plain
plain:
  %new = call ptr @buffer_new(ptr %shape, ptr null, ptr %device, ptr %memory)
  ret ptr %new
donated:
  %given_at = getelementptr ptr, ptr %list, i64 %donor
  %given = load ptr, ptr %given_at
  %taken = call ptr @donated_data(ptr %given)
  %is_taken = icmp ne ptr %taken, null
  br i1 %is_taken, label %make, label %look
look:
  %is_twice = call i1 @is_given_twice(ptr %executable, ptr %list, ptr %given)
  br i1 %is_twice, label %refuse, label %make
refuse:
  ret ptr null
make:
  %result = call ptr @buffer_new(ptr %shape, ptr %taken, ptr %device, ptr %memory)
  %has_failed = icmp eq ptr %result, null
  %is_done = or i1 %is_taken, %has_failed
  br i1 %is_done, label %done, label %copy
copy:
  %to_at = getelementptr i8, ptr %result, i64 <Buffer.data>
  %to = load ptr, ptr %to_at
  %from_at = getelementptr i8, ptr %given, i64 <Buffer.data>
  %from = load ptr, ptr %from_at
  %size_at = getelementptr i8, ptr %shape, i64 <Shape.byte_size>
  %size = load i64, ptr %size_at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 0)
  br label %done
done:
  ret ptr %result
}

; What is given away is gone when the program has run.
define void @delete_donor(ptr %given, ptr %result) {
  %given_at = getelementptr i8, ptr %given, i64 <Buffer.data>
  %given_data = load ptr, ptr %given_at
  %result_at = getelementptr i8, ptr %result, i64 <Buffer.data>
  %result_data = load ptr, ptr %result_at
  %is_taken = icmp eq ptr %given_data, %result_data
  br i1 %is_taken, label %leave, label %delete
leave:
  call void @buffer_leave(ptr %given)
  br label %delete
delete:
  call void @buffer_delete(ptr %given)
  ret void
}

; A result is not needed: what it has taken goes back.
define void @discard_result(ptr %executable, ptr %list, ptr %results, i64 %number) {
  %at = getelementptr ptr, ptr %results, i64 %number
  %result = load ptr, ptr %at
  %donor = call i64 @donor_of(ptr %executable, i64 %number)
  %is_donated = icmp sge i64 %donor, 0
  br i1 %is_donated, label %compare, label %destroy
compare:
  %given_at = getelementptr ptr, ptr %list, i64 %donor
  %given = load ptr, ptr %given_at
  %given_data_at = getelementptr i8, ptr %given, i64 <Buffer.data>
  %given_data = load ptr, ptr %given_data_at
  %data_at = getelementptr i8, ptr %result, i64 <Buffer.data>
  %data = load ptr, ptr %data_at
  %is_taken = icmp eq ptr %given_data, %data
  br i1 %is_taken, label %leave, label %destroy
leave:
  call void @buffer_leave(ptr %result)
  br label %destroy
destroy:
  call void @buffer_destroy(ptr %result)
  ret void
}
"""

_TAKE_ARGUMENTS = """
; Notes and holds the arguments; returns how many there are before one that does not fit.
define i64 @take_arguments(ptr %executable, ptr %list) {
  %count_at = getelementptr i8, ptr %executable, i64 <Loaded.parameter_count>
  %count = load i64, ptr %count_at
  %shapes_at = getelementptr i8, ptr %executable, i64 <Loaded.parameter_shapes>
  %shapes = load ptr, ptr %shapes_at
  %pointers_at = getelementptr i8, ptr %executable, i64 <Loaded.pointers>
  %pointers = load ptr, ptr %pointers_at
  br label %loop
loop:
  %number = phi i64 [ 0, %0 ], [ %next, %take ]
  %is_end = icmp eq i64 %number, %count
  br i1 %is_end, label %done, label %check
check:
  %at = getelementptr ptr, ptr %list, i64 %number
  %buffer = load ptr, ptr %at
  call void @buffer_hold(ptr %buffer)
  %shape_at = getelementptr i8, ptr %buffer, i64 <Buffer.shape>
  %shape = load ptr, ptr %shape_at
  %expected_at = getelementptr ptr, ptr %shapes, i64 %number
  %expected = load ptr, ptr %expected_at
  %is_expected = icmp eq ptr %shape, %expected
  %deleted_at = getelementptr i8, ptr %buffer, i64 <Buffer.is_deleted>
  %deleted = load i8, ptr %deleted_at
  %is_alive = icmp eq i8 %deleted, 0
  %ready_at = getelementptr i8, ptr %buffer, i64 <Buffer.ready>
  %ready = load ptr, ptr %ready_at
  %is_ready = icmp eq ptr %ready, @happened
  %is_usable = and i1 %is_alive, %is_ready
  %fits = and i1 %is_expected, %is_usable
  br i1 %fits, label %take, label %refuse
take:
  %data_at = getelementptr i8, ptr %buffer, i64 <Buffer.data>
  %data = load ptr, ptr %data_at
  %place = getelementptr ptr, ptr %pointers, i64 %number
  store ptr %data, ptr %place
  %next = add i64 %number, 1
  br label %loop
refuse:
  call void @buffer_drop(ptr %buffer)
  br label %done
done:
  ret i64 %number
}

define void @drop_arguments(ptr %list, i64 %count) {
  br label %loop
loop:
  %number = phi i64 [ 0, %0 ], [ %next, %drop ]
  %is_end = icmp eq i64 %number, %count
  br i1 %is_end, label %done, label %drop
drop:
  %at = getelementptr ptr, ptr %list, i64 %number
  %buffer = load ptr, ptr %at
  call void @buffer_drop(ptr %buffer)
  %next = add i64 %number, 1
  br label %loop
done:
  ret void
}
"""

_RESULTS = """
; Makes and notes the results; returns how many could be made.
define i64 @make_results(ptr %executable, ptr %list, ptr %results) {
  %parameters_at = getelementptr i8, ptr %executable, i64 <Loaded.parameter_count>
  %parameters = load i64, ptr %parameters_at
  %count_at = getelementptr i8, ptr %executable, i64 <Loaded.result_count>
  %count = load i64, ptr %count_at
  %pointers_at = getelementptr i8, ptr %executable, i64 <Loaded.pointers>
  %all_pointers = load ptr, ptr %pointers_at
  %pointers = getelementptr ptr, ptr %all_pointers, i64 %parameters
  br label %loop
loop:
  %number = phi i64 [ 0, %0 ], [ %next, %note ]
  %is_end = icmp eq i64 %number, %count
  br i1 %is_end, label %done, label %make
make:
  %result = call ptr @result_new(ptr %executable, ptr %list, i64 %number)
  %has_failed = icmp eq ptr %result, null
  br i1 %has_failed, label %done, label %note
note:
  %at = getelementptr ptr, ptr %results, i64 %number
  store ptr %result, ptr %at
  %data_at = getelementptr i8, ptr %result, i64 <Buffer.data>
  %data = load ptr, ptr %data_at
  %place = getelementptr ptr, ptr %pointers, i64 %number
  store ptr %data, ptr %place
  %next = add i64 %number, 1
  br label %loop
done:
  ret i64 %number
}

define void @discard_results(ptr %executable, ptr %list, ptr %results, i64 %count) {
  br label %loop
loop:
  %number = phi i64 [ 0, %0 ], [ %next, %discard ]
  %is_end = icmp eq i64 %number, %count
  br i1 %is_end, label %done, label %discard
discard:
  call void @discard_result(ptr %executable, ptr %list, ptr %results, i64 %number)
  %next = add i64 %number, 1
  br label %loop
done:
  ret void
}

define void @delete_donors(ptr %executable, ptr %list, ptr %results) {
  %donors_at = getelementptr i8, ptr %executable, i64 <Loaded.donors>
  %donors = load ptr, ptr %donors_at
  %has_none = icmp eq ptr %donors, null
  br i1 %has_none, label %done, label %start
start:
  %count_at = getelementptr i8, ptr %executable, i64 <Loaded.result_count>
  %count = load i64, ptr %count_at
  br label %loop
loop:
  %number = phi i64 [ 0, %start ], [ %next, %continue ]
  %is_end = icmp eq i64 %number, %count
  br i1 %is_end, label %done, label %look
look:
  %donor_at = getelementptr i64, ptr %donors, i64 %number
  %donor = load i64, ptr %donor_at
  %is_donated = icmp sge i64 %donor, 0
  br i1 %is_donated, label %delete, label %continue
delete:
  %given_at = getelementptr ptr, ptr %list, i64 %donor
  %given = load ptr, ptr %given_at
  %result_at = getelementptr ptr, ptr %results, i64 %number
  %result = load ptr, ptr %result_at
  call void @delete_donor(ptr %given, ptr %result)
  br label %continue
continue:
  %next = add i64 %number, 1
  br label %loop
done:
  ret void
}
"""

EXECUTE: dict[str, tuple[str, str]] = {
    "LoadedExecutable_Execute": (
        _DONATE + _TAKE_ARGUMENTS + _RESULTS + RUN + FOR_DEVICES,
        BODY,
    )
}
"""As `BUFFERS`: the call of a program."""
