"""
LLVM IR with which the processes of one program meet, and copy from each other, without Python.

They are run in turn by one thread, each on a stack of its own until it has to wait for others, or
by a thread each. Who comes last to a meeting copies for all members; of many bytes each thread
copies what it wants, and they meet again. When every process waits or has ended and none can go on,
the run has failed: then each call of a collective returns 1, which ends its process, and Python,
which runs the program again, says what is wrong.

`<Record.field>` is the distance of a field from the start of its struct, `<Record>` the size of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from lowerings.execution.meeting_records import with_places
from lowerings.execution.meeting_runs import IN_TURN, START, WORKERS

_DECLARATIONS = """
@current_key = global i32 0
declare ptr @pthread_getspecific(i32)
declare i32 @pthread_setspecific(i32, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @getcontext(ptr) returns_twice
declare void @makecontext(ptr, ptr, i32, ...)
declare i32 @swapcontext(ptr, ptr) returns_twice
declare i32 @xla_run(ptr, ptr, i64, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define ptr @current() {
  %key = load i32, ptr @current_key
  %found = call ptr @pthread_getspecific(i32 %key)
  ret ptr %found
}

define void @set_current(ptr %process) {
  %key = load i32, ptr @current_key
  %ignored = call i32 @pthread_setspecific(i32 %key, ptr %process)
  ret void
}

define ptr @process_at(ptr %run, i64 %number) {
  %processes_at = getelementptr i8, ptr %run, i64 <Run.processes>
  %processes = load ptr, ptr %processes_at
  %distance = mul i64 %number, <Process>
  %process = getelementptr i8, ptr %processes, i64 %distance
  ret ptr %process
}

define void @lock(ptr %run) {
  %in_turn_at = getelementptr i8, ptr %run, i64 <Run.in_turn>
  %in_turn = load i64, ptr %in_turn_at
  %has_threads = icmp eq i64 %in_turn, 0
  br i1 %has_threads, label %take, label %done
take:
  %lock = getelementptr i8, ptr %run, i64 <Run.lock>
  %ignored = call i32 @pthread_mutex_lock(ptr %lock)
  br label %done
done:
  ret void
}

define void @unlock(ptr %run) {
  %in_turn_at = getelementptr i8, ptr %run, i64 <Run.in_turn>
  %in_turn = load i64, ptr %in_turn_at
  %has_threads = icmp eq i64 %in_turn, 0
  br i1 %has_threads, label %give, label %done
give:
  %lock = getelementptr i8, ptr %run, i64 <Run.lock>
  %ignored = call i32 @pthread_mutex_unlock(ptr %lock)
  br label %done
done:
  ret void
}

; If there is news, threads that wait are to look again.
define void @tell(ptr %run, i1 %has_news) {
  %in_turn_at = getelementptr i8, ptr %run, i64 <Run.in_turn>
  %in_turn = load i64, ptr %in_turn_at
  %has_threads = icmp eq i64 %in_turn, 0
  %is_to_tell = and i1 %has_threads, %has_news
  br i1 %is_to_tell, label %tell, label %done
tell:
  %changed = getelementptr i8, ptr %run, i64 <Run.changed>
  %ignored = call i32 @pthread_cond_broadcast(ptr %changed)
  br label %done
done:
  ret void
}
"""

_COPIES = """
; What one process does by its plan, on the arrays that others have brought.
define void @copy_for(ptr %process) {
  %run = load ptr, ptr %process
  %plan_at = getelementptr i8, ptr %process, i64 <Process.plan>
  %plan = load ptr, ptr %plan_at
  %own_at = getelementptr i8, ptr %process, i64 <Process.arrays>
  %own = load ptr, ptr %own_at
  %count_at = getelementptr i8, ptr %plan, i64 <Plan.copy_count>
  %count = load i64, ptr %count_at
  %copies_at = getelementptr i8, ptr %plan, i64 <Plan.copies>
  %copies = load ptr, ptr %copies_at
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %next, %copied ]
  %is_end = icmp eq i64 %n, %count
  br i1 %is_end, label %done, label %look
look:
  %distance = mul i64 %n, <Copy>
  %copy = getelementptr i8, ptr %copies, i64 %distance
  %member = load i64, ptr %copy
  %offset_at = getelementptr i8, ptr %copy, i64 <Copy.source_offset>
  %offset = load i64, ptr %offset_at
  %is_outside = icmp slt i64 %member, 0
  br i1 %is_outside, label %outside, label %inside
outside:
  %constant = inttoptr i64 %offset to ptr
  br label %target
inside:
  %other = call ptr @process_at(ptr %run, i64 %member)
  %brought_at = getelementptr i8, ptr %other, i64 <Process.arrays>
  %brought = load ptr, ptr %brought_at
  %source_at = getelementptr i8, ptr %copy, i64 <Copy.source>
  %source = load i64, ptr %source_at
  %array_at = getelementptr ptr, ptr %brought, i64 %source
  %array = load ptr, ptr %array_at
  %place = getelementptr i8, ptr %array, i64 %offset
  br label %target
target:
  %from = phi ptr [ %constant, %outside ], [ %place, %inside ]
  %target_at = getelementptr i8, ptr %copy, i64 <Copy.target>
  %target_number = load i64, ptr %target_at
  %result_at = getelementptr ptr, ptr %own, i64 %target_number
  %result = load ptr, ptr %result_at
  %ahead_at = getelementptr i8, ptr %copy, i64 <Copy.target_offset>
  %ahead = load i64, ptr %ahead_at
  %to = getelementptr i8, ptr %result, i64 %ahead
  %rows_at = getelementptr i8, ptr %copy, i64 <Copy.rows>
  %rows = load i64, ptr %rows_at
  %bytes_at = getelementptr i8, ptr %copy, i64 <Copy.row_bytes>
  %bytes = load i64, ptr %bytes_at
  %from_step_at = getelementptr i8, ptr %copy, i64 <Copy.source_step>
  %from_step = load i64, ptr %from_step_at
  %to_step_at = getelementptr i8, ptr %copy, i64 <Copy.target_step>
  %to_step = load i64, ptr %to_step_at
  br label %row
row:
  %r = phi i64 [ 0, %target ], [ %next_row, %row ]
  %back = mul i64 %r, %from_step
  %row_from = getelementptr i8, ptr %from, i64 %back
  %forth = mul i64 %r, %to_step
  %row_to = getelementptr i8, ptr %to, i64 %forth
  call void @llvm.memcpy.p0.p0.i64(ptr %row_to, ptr %row_from, i64 %bytes, i1 0)
  %next_row = add i64 %r, 1
  %more = icmp ult i64 %next_row, %rows
  br i1 %more, label %row, label %copied
copied:
  %next = add i64 %n, 1
  br label %loop
done:
  ret void
}

; All members of the group have come: copies for each of them, if that is asked, and wakes it.
define void @serve(ptr %run, ptr %plan, i1 %copies) {
  %count_at = getelementptr i8, ptr %plan, i64 <Plan.member_count>
  %count = load i64, ptr %count_at
  %members_at = getelementptr i8, ptr %plan, i64 <Plan.members>
  %members = load ptr, ptr %members_at
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %next, %wake ]
  %is_end = icmp eq i64 %n, %count
  br i1 %is_end, label %done, label %member
member:
  %number_at = getelementptr i64, ptr %members, i64 %n
  %number = load i64, ptr %number_at
  %process = call ptr @process_at(ptr %run, i64 %number)
  br i1 %copies, label %copy, label %wake
copy:
  call void @copy_for(ptr %process)
  br label %wake
wake:
  %state_at = getelementptr i8, ptr %process, i64 <Process.state>
  store i64 <RUNS>, ptr %state_at
  %next = add i64 %n, 1
  br label %loop
done:
  %awake_at = getelementptr i8, ptr %run, i64 <Run.awake>
  %awake = load i64, ptr %awake_at
  %others = sub i64 %count, 1
  %now = add i64 %awake, %others
  store i64 %now, ptr %awake_at
  ret void
}
"""

_WAITING = """
; In a run by one thread: goes on with the next process that can, which may be this one.
define void @go_on(ptr %process) {
  %run = load ptr, ptr %process
  %count_at = getelementptr i8, ptr %run, i64 <Run.count>
  %count = load i64, ptr %count_at
  %failed_at = getelementptr i8, ptr %run, i64 <Run.has_failed>
  %failed = load i64, ptr %failed_at
  %has_failed = icmp ne i64 %failed, 0
  %number_at = getelementptr i8, ptr %process, i64 <Process.number>
  %number = load i64, ptr %number_at
  br label %loop
loop:
  %n = phi i64 [ 1, %0 ], [ %next, %look ]
  %is_end = icmp eq i64 %n, %count
  br i1 %is_end, label %first, label %look
look:
  %ahead = add i64 %number, %n
  %candidate_number = urem i64 %ahead, %count
  %candidate = call ptr @process_at(ptr %run, i64 %candidate_number)
  %state_at = getelementptr i8, ptr %candidate, i64 <Process.state>
  %state = load i64, ptr %state_at
  %runs = icmp eq i64 %state, <RUNS>
  %waits = icmp eq i64 %state, <WAITS>
  %gives_up = and i1 %waits, %has_failed
  %can = or i1 %runs, %gives_up
  %next = add i64 %n, 1
  br i1 %can, label %switch, label %loop
first:
  ; Nobody else: the first one returns when all have ended.
  %own_state_at = getelementptr i8, ptr %process, i64 <Process.state>
  %own_state = load i64, ptr %own_state_at
  %has_ended = icmp eq i64 %own_state, <HAS_ENDED>
  %is_other = icmp ne i64 %number, 0
  %goes_back = and i1 %has_ended, %is_other
  br i1 %goes_back, label %back, label %stay
back:
  %zero = call ptr @process_at(ptr %run, i64 0)
  br label %switch
switch:
  %to = phi ptr [ %candidate, %look ], [ %zero, %back ]
  call void @set_current(ptr %to)
  %here = getelementptr i8, ptr %process, i64 <Process.context>
  %there = getelementptr i8, ptr %to, i64 <Process.context>
  %ignored = call i32 @swapcontext(ptr %here, ptr %there)
  ret void
stay:
  ret void
}

; Waits until others wake a process, or the run has failed; returns whether it has.
define i1 @wait(ptr %process) {
  %run = load ptr, ptr %process
  %state_at = getelementptr i8, ptr %process, i64 <Process.state>
  %failed_at = getelementptr i8, ptr %run, i64 <Run.has_failed>
  %in_turn_at = getelementptr i8, ptr %run, i64 <Run.in_turn>
  %in_turn = load i64, ptr %in_turn_at
  %has_threads = icmp eq i64 %in_turn, 0
  %lock = getelementptr i8, ptr %run, i64 <Run.lock>
  %changed = getelementptr i8, ptr %run, i64 <Run.changed>
  br label %look
look:
  %state = load i64, ptr %state_at
  %waits = icmp eq i64 %state, <WAITS>
  %failed = load i64, ptr %failed_at
  %has_failed = icmp ne i64 %failed, 0
  %is_hopeful = xor i1 %has_failed, 1
  %still = and i1 %waits, %is_hopeful
  br i1 %still, label %pause, label %done
pause:
  br i1 %has_threads, label %sleep, label %turn
sleep:
  %ignored = call i32 @pthread_cond_wait(ptr %changed, ptr %lock)
  br label %look
turn:
  call void @go_on(ptr %process)
  br label %look
done:
  ret i1 %has_failed
}

; A process is not awake any more; where none is, and some wait, the run has failed.
define i1 @rest(ptr %process, i64 %state) {
  %run = load ptr, ptr %process
  %state_at = getelementptr i8, ptr %process, i64 <Process.state>
  store i64 %state, ptr %state_at
  %awake_at = getelementptr i8, ptr %run, i64 <Run.awake>
  %awake = load i64, ptr %awake_at
  %left = sub i64 %awake, 1
  store i64 %left, ptr %awake_at
  %is_last = icmp eq i64 %left, 0
  br i1 %is_last, label %look, label %done
look:
  %count_at = getelementptr i8, ptr %run, i64 <Run.count>
  %count = load i64, ptr %count_at
  br label %loop
loop:
  %n = phi i64 [ 0, %look ], [ %next, %compare ]
  %is_end = icmp eq i64 %n, %count
  br i1 %is_end, label %done, label %compare
compare:
  %other = call ptr @process_at(ptr %run, i64 %n)
  %other_state_at = getelementptr i8, ptr %other, i64 <Process.state>
  %other_state = load i64, ptr %other_state_at
  %waits = icmp eq i64 %other_state, <WAITS>
  %next = add i64 %n, 1
  br i1 %waits, label %stuck, label %loop
stuck:
  %failed_at = getelementptr i8, ptr %run, i64 <Run.has_failed>
  store i64 1, ptr %failed_at
  ret i1 1
done:
  ret i1 0
}
"""

_EXCHANGE = """
; A process comes to the meeting of its plan; returns whether the run has failed.
define i1 @meet(ptr %process, ptr %plan, i1 %copies) {
  %run = load ptr, ptr %process
  %count_at = getelementptr i8, ptr %plan, i64 <Plan.member_count>
  %count = load i64, ptr %count_at
  call void @lock(ptr %run)
  %meeting = load i64, ptr %plan
  %all_at = getelementptr i8, ptr %run, i64 <Run.arrived>
  %all = load ptr, ptr %all_at
  %here_at = getelementptr i64, ptr %all, i64 %meeting
  %here = load i64, ptr %here_at
  %now = add i64 %here, 1
  %is_last = icmp eq i64 %now, %count
  br i1 %is_last, label %last, label %early
last:
  store i64 0, ptr %here_at
  call void @serve(ptr %run, ptr %plan, i1 %copies)
  br label %leave
early:
  store i64 %now, ptr %here_at
  %is_stuck = call i1 @rest(ptr %process, i64 <WAITS>)
  call void @tell(ptr %run, i1 %is_stuck)
  %has_failed = call i1 @wait(ptr %process)
  br label %leave
leave:
  %ends = phi i1 [ 0, %last ], [ %has_failed, %early ]
  call void @tell(ptr %run, i1 %is_last)
  call void @unlock(ptr %run)
  ret i1 %ends
}

; A process comes with its arrays to what its plan says; returns 1 where the run has failed.
define i32 @exchange(ptr %process, ptr %plans, ptr %arrays) {
  %run = load ptr, ptr %process
  %number_at = getelementptr i8, ptr %process, i64 <Process.number>
  %number = load i64, ptr %number_at
  %distance = mul i64 %number, <Plan>
  %plan = getelementptr i8, ptr %plans, i64 %distance
  %plan_at = getelementptr i8, ptr %process, i64 <Process.plan>
  store ptr %plan, ptr %plan_at
  %arrays_at = getelementptr i8, ptr %process, i64 <Process.arrays>
  store ptr %arrays, ptr %arrays_at
  %count_at = getelementptr i8, ptr %plan, i64 <Plan.member_count>
  %count = load i64, ptr %count_at
  %is_alone = icmp eq i64 %count, 0
  br i1 %is_alone, label %alone, label %come
alone:
  call void @copy_for(ptr %process)
  ret i32 0
come:
  %in_turn_at = getelementptr i8, ptr %run, i64 <Run.in_turn>
  %in_turn = load i64, ptr %in_turn_at
  %has_threads = icmp eq i64 %in_turn, 0
  %many_at = getelementptr i8, ptr %plan, i64 <Plan.copies_alone>
  %many = load i64, ptr %many_at
  %are_many = icmp ne i64 %many, 0
  %copies_alone = and i1 %has_threads, %are_many
  %copies_for_all = xor i1 %copies_alone, 1
  %has_failed = call i1 @meet(ptr %process, ptr %plan, i1 %copies_for_all)
  %goes_on = xor i1 %has_failed, 1
  %has_to_copy = and i1 %copies_alone, %goes_on
  br i1 %has_to_copy, label %copy, label %done
copy:
  call void @copy_for(ptr %process)
  %has_failed_then = call i1 @meet(ptr %process, ptr %plan, i1 0)
  br label %done
done:
  %ends = phi i1 [ %has_failed, %come ], [ %has_failed_then, %copy ]
  %result = zext i1 %ends to i32
  ret i32 %result
}

; Runs one process in this thread, to its end.
define void @run_process(ptr %process) {
  call void @set_current(ptr %process)
  %entry_at = getelementptr i8, ptr %process, i64 <Process.entry>
  %entry = load ptr, ptr %entry_at
  %pointers_at = getelementptr i8, ptr %process, i64 <Process.pointers>
  %pointers = load ptr, ptr %pointers_at
  %ended = call i32 @xla_run(ptr %entry, ptr null, i64 0, ptr %pointers)
  %run = load ptr, ptr %process
  call void @lock(ptr %run)
  %ignored = call i1 @rest(ptr %process, i64 <HAS_ENDED>)
  call void @tell(ptr %run, i1 1)
  call void @unlock(ptr %run)
  call void @set_current(ptr null)
  ret void
}

"""


def runtime_text() -> str:
    """The LLVM IR of what all programs share."""
    return with_places(_DECLARATIONS + _COPIES + _WAITING + _EXCHANGE + START + IN_TURN + WORKERS)


def wrapper_text(name: str, pointers: int) -> str:
    """
    A function of so many pointers, which the program calls: it exchanges by the plans that the
    variable `plans.name` points to, or calls `python.name` where no process of a run runs it.
    """
    given = ", ".join(f"ptr %p{n}" for n in range(pointers))
    stores = "\n".join(
        f"  %at{n} = getelementptr ptr, ptr %arrays, i64 {n}\n  store ptr %p{n}, ptr %at{n}"
        for n in range(pointers)
    )
    return f"""
@"plans.{name}" = global ptr null
@"python.{name}" = global ptr null
define i32 @"{name}"({given}) {{
  %arrays = alloca ptr, i64 {max(pointers, 1)}
  %find = load ptr, ptr @current
  %process = call ptr %find()
  %is_alone = icmp eq ptr %process, null
  br i1 %is_alone, label %python, label %meet
python:
  %function = load ptr, ptr @"python.{name}"
  %found = call i32 %function({given})
  ret i32 %found
meet:
{stores}
  %plans = load ptr, ptr @"plans.{name}"
  %exchange = load ptr, ptr @exchange
  %failed = call i32 %exchange(ptr %process, ptr %plans, ptr %arrays)
  ret i32 %failed
}}
"""


WRAPPER_HEAD = """
@current = global ptr null
@exchange = global ptr null
"""


def wrappers_text(functions: Sequence[tuple[str, int]]) -> str:
    """The functions of a program, by name and number of pointers."""
    return WRAPPER_HEAD + "".join(wrapper_text(*each) for each in functions)
