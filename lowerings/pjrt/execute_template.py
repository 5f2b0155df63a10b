"""The call of a program by machine code, on all of its devices; see `templates`."""

from __future__ import annotations

_CAN_RUN = """
; Whether a program can be run without Python: the plainest of calls.
define i1 @can_run(ptr %args) {
  %executable_at = getelementptr i8, ptr %args, i64 <Args.executable>
  %executable = load ptr, ptr %executable_at
  %code_at = getelementptr i8, ptr %executable, i64 <Loaded.has_machine_code>
  %code = load i64, ptr %code_at
  %has_code = icmp ne i64 %code, 0
  br i1 %has_code, label %look, label %no
look:
  %devices_at = getelementptr i8, ptr %args, i64 <Args.num_devices>
  %devices = load i64, ptr %devices_at
  %own_devices_at = getelementptr i8, ptr %executable, i64 <Loaded.device_count>
  %own_devices = load i64, ptr %own_devices_at
  %are_all = icmp eq i64 %devices, %own_devices
  %given_at = getelementptr i8, ptr %args, i64 <Args.num_args>
  %given = load i64, ptr %given_at
  %count_at = getelementptr i8, ptr %executable, i64 <Loaded.parameter_count>
  %count = load i64, ptr %count_at
  %is_count = icmp eq i64 %given, %count
  %device_at = getelementptr i8, ptr %args, i64 <Args.execute_device>
  %device = load ptr, ptr %device_at
  %own_at = getelementptr i8, ptr %executable, i64 <Loaded.device>
  %own = load ptr, ptr %own_at
  %is_any = icmp eq ptr %device, null
  %is_own = icmp eq ptr %device, %own
  %is_here = or i1 %is_any, %is_own
  %devices_and_count = and i1 %are_all, %is_count
  %fits = and i1 %devices_and_count, %is_here
  br i1 %fits, label %look_at_donors, label %no
look_at_donors:
  %donors_at = getelementptr i8, ptr %executable, i64 <Loaded.donors>
  %donors = load ptr, ptr %donors_at
  %has_none = icmp eq ptr %donors, null
  br i1 %has_none, label %yes, label %look_at_options
look_at_options:
  %options_at = getelementptr i8, ptr %args, i64 <Args.options>
  %options = load ptr, ptr %options_at
  %kept_at = getelementptr i8, ptr %options, i64 <Options.num_non_donatable_input_indices>
  %kept = load i64, ptr %kept_at
  %may_donate = icmp eq i64 %kept, 0
  ret i1 %may_donate
yes:
  ret i1 1
no:
  ret i1 0
}
"""


def _for_devices(name: str, body: str) -> str:
    """
    A function that does something for each device, of which `%part` is the program, `%list` has the
    arguments and `%made` the results; whether all of them say `%is_well`.
    """
    return f"""
define i1 @{name}(ptr %executable, ptr %lists, ptr %outputs) {{
  %count_at = getelementptr i8, ptr %executable, i64 <Loaded.device_count>
  %count = load i64, ptr %count_at
  %parts_at = getelementptr i8, ptr %executable, i64 <Loaded.parts>
  %parts = load ptr, ptr %parts_at
  br label %device
device:
  %number = phi i64 [ 0, %0 ], [ %next, %device ]
  %before = phi i1 [ 1, %0 ], [ %all, %device ]
  %distance = mul i64 %number, <Loaded>
  %part = getelementptr i8, ptr %parts, i64 %distance
  %list_at = getelementptr ptr, ptr %lists, i64 %number
  %list = load ptr, ptr %list_at
  %made_at = getelementptr ptr, ptr %outputs, i64 %number
  %made = load ptr, ptr %made_at
  %taken_count_at = getelementptr i8, ptr %part, i64 <Loaded.taken_count>
  %made_count_at = getelementptr i8, ptr %part, i64 <Loaded.made_count>
{body}
  %all = and i1 %before, %is_well
  %next = add i64 %number, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %device, label %done
done:
  ret i1 %all
}}
"""


_TAKE = """
  %wanted_at = getelementptr i8, ptr %part, i64 <Loaded.parameter_count>
  %wanted = load i64, ptr %wanted_at
  %taken = call i64 @take_arguments(ptr %part, ptr %list)
  store i64 %taken, ptr %taken_count_at
  %is_well = icmp eq i64 %taken, %wanted"""

_MAKE = """
  %wanted_at = getelementptr i8, ptr %part, i64 <Loaded.result_count>
  %wanted = load i64, ptr %wanted_at
  %found = call i64 @make_results(ptr %part, ptr %list, ptr %made)
  store i64 %found, ptr %made_count_at
  %is_well = icmp eq i64 %found, %wanted"""

_DISCARD = """
  %found = load i64, ptr %made_count_at
  call void @discard_results(ptr %part, ptr %list, ptr %made, i64 %found)
  %is_well = icmp eq i64 0, 0"""

_DROP = """
  %taken = load i64, ptr %taken_count_at
  call void @drop_arguments(ptr %list, i64 %taken)
  %is_well = icmp eq i64 0, 0"""

_INTERRUPT = """
  %found = load i64, ptr %made_count_at
  call void @interrupt_results(ptr %made, i64 %found)
  %is_well = icmp eq i64 0, 0"""

_DONATED = """
  call void @delete_donors(ptr %part, ptr %list, ptr %made)
  %is_well = icmp eq i64 0, 0"""

_INTERRUPT_RESULTS = """
; Arrays that were not computed: an error for whoever reads them.
define void @interrupt_results(ptr %results, i64 %count) {
  %event = load ptr, ptr @interruption
  br label %loop
loop:
  %number = phi i64 [ 0, %0 ], [ %next, %note ]
  %is_end = icmp eq i64 %number, %count
  br i1 %is_end, label %done, label %note
note:
  %at = getelementptr ptr, ptr %results, i64 %number
  %result = load ptr, ptr %at
  %ready_at = getelementptr i8, ptr %result, i64 <Buffer.ready>
  store ptr %event, ptr %ready_at
  %next = add i64 %number, 1
  br label %loop
done:
  ret void
}
"""

_RUN_ALL = """
; Runs the code for all devices; a program that has failed on several is left to Python.
define i32 @run_all(ptr %executable) {
  %joint_at = getelementptr i8, ptr %executable, i64 <Loaded.joint>
  %joint = load ptr, ptr %joint_at
  %is_one = icmp eq ptr %joint, null
  br i1 %is_one, label %one, label %several
one:
  %how_alone = call i32 @run_code(ptr %executable)
  ret i32 %how_alone
several:
  %run_at = getelementptr i8, ptr %executable, i64 <Loaded.run_in_turn>
  %run = load ptr, ptr %run_at
  %states_at = getelementptr i8, ptr %joint, i64 <Run.states>
  %states = load ptr, ptr %states_at
  %count_at = getelementptr i8, ptr %joint, i64 <Run.state_count>
  %count = load i64, ptr %count_at
  %interrupted = call i32 @xla_run(ptr %run, ptr %states, i64 %count, ptr %joint)
  %failed_at = getelementptr i8, ptr %joint, i64 <Run.has_failed>
  %failed = load i64, ptr %failed_at
  %has_failed = icmp ne i64 %failed, 0
  %how = call i32 @end_of(i32 %interrupted, i1 %has_failed)
  %is_left = icmp eq i32 %how, <FAILED>
  br i1 %is_left, label %leave, label %done
leave:
  %code_at = getelementptr i8, ptr %executable, i64 <Loaded.has_machine_code>
  store i64 0, ptr %code_at
  br label %done
done:
  ret i32 %how
}

define void @say_all(ptr %args) {
  %count_at = getelementptr i8, ptr %args, i64 <Args.num_devices>
  %count = load i64, ptr %count_at
  %events_at = getelementptr i8, ptr %args, i64 <Args.device_complete_events>
  %events = load ptr, ptr %events_at
  %has_none = icmp eq ptr %events, null
  br i1 %has_none, label %done, label %say
say:
  %number = phi i64 [ 0, %0 ], [ %next, %say ]
  %event_at = getelementptr ptr, ptr %events, i64 %number
  store ptr @happened, ptr %event_at
  %next = add i64 %number, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %say, label %done
done:
  ret void
}
"""

FOR_DEVICES = "".join(
    (
        _CAN_RUN,
        _for_devices("take_all", _TAKE),
        _for_devices("make_all", _MAKE),
        _for_devices("discard_all", _DISCARD),
        _for_devices("drop_all", _DROP),
        _INTERRUPT_RESULTS,
        _for_devices("interrupt_all", _INTERRUPT),
        _for_devices("delete_all_donors", _DONATED),
        _RUN_ALL,
    )
)
"""The functions that `BODY` calls."""

BODY = """
  %can_run = call i1 @can_run(ptr %args)
  br i1 %can_run, label %lock, label %python
lock:
  %executable_at = getelementptr i8, ptr %args, i64 <Args.executable>
  %executable = load ptr, ptr %executable_at
  %busy_at = getelementptr i8, ptr %executable, i64 <Loaded.is_busy>
  %was_busy = atomicrmw xchg ptr %busy_at, i64 1 acquire
  %is_free = icmp eq i64 %was_busy, 0
  br i1 %is_free, label %arguments, label %python
arguments:
  %lists_at = getelementptr i8, ptr %args, i64 <Args.argument_lists>
  %lists = load ptr, ptr %lists_at
  %outputs_at = getelementptr i8, ptr %args, i64 <Args.output_lists>
  %outputs = load ptr, ptr %outputs_at
  %are_taken = call i1 @take_all(ptr %executable, ptr %lists, ptr %outputs)
  br i1 %are_taken, label %results, label %unlock
results:
  %are_made = call i1 @make_all(ptr %executable, ptr %lists, ptr %outputs)
  br i1 %are_made, label %run, label %discard
run:
  %how = call i32 @run_all(ptr %executable)
  switch i32 %how, label %discard [
    i32 <DONE>, label %finish
    i32 <INTERRUPTED>, label %interrupt
  ]
interrupt:
  %interrupted = call i1 @interrupt_all(ptr %executable, ptr %lists, ptr %outputs)
  br label %finish
finish:
  %donors_gone = call i1 @delete_all_donors(ptr %executable, ptr %lists, ptr %outputs)
  %dropped = call i1 @drop_all(ptr %executable, ptr %lists, ptr %outputs)
  store atomic i64 0, ptr %busy_at release, align 8
  call void @say_all(ptr %args)
  ret ptr null
discard:
  %discarded = call i1 @discard_all(ptr %executable, ptr %lists, ptr %outputs)
  br label %unlock
unlock:
  %all_dropped = call i1 @drop_all(ptr %executable, ptr %lists, ptr %outputs)
  store atomic i64 0, ptr %busy_at release, align 8
  br label %python
"""
