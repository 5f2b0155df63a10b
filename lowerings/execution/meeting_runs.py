"""LLVM IR that runs the processes of a program, in turn or by a thread each: see `meeting_code`."""

from __future__ import annotations

START = """
; Before a run: all processes may go on, and nobody has come to a meeting.
define void @start(ptr %run) {
  %count_at = getelementptr i8, ptr %run, i64 <Run.count>
  %count = load i64, ptr %count_at
  %awake_at = getelementptr i8, ptr %run, i64 <Run.awake>
  store i64 %count, ptr %awake_at
  %failed_at = getelementptr i8, ptr %run, i64 <Run.has_failed>
  store i64 0, ptr %failed_at
  %meetings_at = getelementptr i8, ptr %run, i64 <Run.meeting_count>
  %meetings = load i64, ptr %meetings_at
  %arrived_at = getelementptr i8, ptr %run, i64 <Run.arrived>
  %arrived = load ptr, ptr %arrived_at
  %bytes = mul i64 %meetings, 8
  call void @llvm.memset.p0.i64(ptr %arrived, i8 0, i64 %bytes, i1 0)
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %next, %loop ]
  %process = call ptr @process_at(ptr %run, i64 %n)
  %state_at = getelementptr i8, ptr %process, i64 <Process.state>
  store i64 <RUNS>, ptr %state_at
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Whether all processes but the first have ended.
define i1 @others_have_ended(ptr %run) {
  %count_at = getelementptr i8, ptr %run, i64 <Run.count>
  %count = load i64, ptr %count_at
  br label %loop
loop:
  %other = phi i64 [ 1, %0 ], [ %following, %compare ]
  %are_all = icmp uge i64 %other, %count
  br i1 %are_all, label %done, label %compare
compare:
  %candidate = call ptr @process_at(ptr %run, i64 %other)
  %state_at = getelementptr i8, ptr %candidate, i64 <Process.state>
  %state = load i64, ptr %state_at
  %has_ended = icmp eq i64 %state, <HAS_ENDED>
  %following = add i64 %other, 1
  br i1 %has_ended, label %loop, label %done
done:
  ret i1 %are_all
}
"""

IN_TURN = """
define void @begin() {
  %process = call ptr @current()
  call void @run_process(ptr %process)
  br label %ended
ended:
  call void @go_on(ptr %process)
  br label %ended
}

; Runs all processes in this thread, the first on its stack.
define void @run_in_turn(ptr %run) {
  call void @start(ptr %run)
  %count_at = getelementptr i8, ptr %run, i64 <Run.count>
  %count = load i64, ptr %count_at
  br label %prepare
prepare:
  %n = phi i64 [ 1, %0 ], [ %next, %make ]
  %is_end = icmp eq i64 %n, %count
  br i1 %is_end, label %start, label %make
make:
  %process = call ptr @process_at(ptr %run, i64 %n)
  %context = getelementptr i8, ptr %process, i64 <Process.context>
  %ignored = call i32 @getcontext(ptr %context)
  %stack_at = getelementptr i8, ptr %process, i64 <Process.stack>
  %stack = load ptr, ptr %stack_at
  %size_at = getelementptr i8, ptr %process, i64 <Process.stack_size>
  %size = load i64, ptr %size_at
  %link_in = getelementptr i8, ptr %context, i64 8
  store ptr null, ptr %link_in
  %stack_in = getelementptr i8, ptr %context, i64 16
  store ptr %stack, ptr %stack_in
  %size_in = getelementptr i8, ptr %context, i64 32
  store i64 %size, ptr %size_in
  call void (ptr, ptr, i32, ...) @makecontext(ptr %context, ptr @begin, i32 0)
  %next = add i64 %n, 1
  br label %prepare
start:
  %first = call ptr @process_at(ptr %run, i64 0)
  call void @run_process(ptr %first)
  br label %look
look:
  %is_done = call i1 @others_have_ended(ptr %run)
  br i1 %is_done, label %done, label %turn
turn:
  call void @go_on(ptr %first)
  br label %look
done:
  call void @set_current(ptr null)
  ret void
}
"""

WORKERS = """
; What a thread does that is kept: one job after the other.
define ptr @work(ptr %worker) {
  %lock = getelementptr i8, ptr %worker, i64 <Worker.lock>
  %changed = getelementptr i8, ptr %worker, i64 <Worker.changed>
  br label %ask
ask:
  %locked = call i32 @pthread_mutex_lock(ptr %lock)
  br label %look
look:
  %job = load ptr, ptr %worker
  %is_idle = icmp eq ptr %job, null
  br i1 %is_idle, label %sleep, label %run
sleep:
  %woken = call i32 @pthread_cond_wait(ptr %changed, ptr %lock)
  br label %look
run:
  store ptr null, ptr %worker
  %unlocked = call i32 @pthread_mutex_unlock(ptr %lock)
  call void @run_process(ptr %job)
  br label %ask
}

define void @hand_out(ptr %worker, ptr %process) {
  %lock = getelementptr i8, ptr %worker, i64 <Worker.lock>
  %changed = getelementptr i8, ptr %worker, i64 <Worker.changed>
  %locked = call i32 @pthread_mutex_lock(ptr %lock)
  store ptr %process, ptr %worker
  %woken = call i32 @pthread_cond_broadcast(ptr %changed)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %lock)
  ret void
}

; Runs the first process in this thread and the others in those of the workers of the run.
define void @run_on_threads(ptr %run) {
  call void @start(ptr %run)
  %count_at = getelementptr i8, ptr %run, i64 <Run.count>
  %count = load i64, ptr %count_at
  %workers_at = getelementptr i8, ptr %run, i64 <Run.workers>
  %workers = load ptr, ptr %workers_at
  %lock = getelementptr i8, ptr %run, i64 <Run.lock>
  %changed = getelementptr i8, ptr %run, i64 <Run.changed>
  br label %hand_out
hand_out:
  %n = phi i64 [ 1, %0 ], [ %next, %give ]
  %is_end = icmp eq i64 %n, %count
  br i1 %is_end, label %own, label %give
give:
  %before = sub i64 %n, 1
  %worker_at = getelementptr ptr, ptr %workers, i64 %before
  %worker = load ptr, ptr %worker_at
  %process = call ptr @process_at(ptr %run, i64 %n)
  call void @hand_out(ptr %worker, ptr %process)
  %next = add i64 %n, 1
  br label %hand_out
own:
  %first = call ptr @process_at(ptr %run, i64 0)
  call void @run_process(ptr %first)
  %locked = call i32 @pthread_mutex_lock(ptr %lock)
  br label %look
look:
  %is_done = call i1 @others_have_ended(ptr %run)
  br i1 %is_done, label %done, label %sleep
sleep:
  %woken = call i32 @pthread_cond_wait(ptr %changed, ptr %lock)
  br label %look
done:
  %unlocked = call i32 @pthread_mutex_unlock(ptr %lock)
  ret void
}
"""
