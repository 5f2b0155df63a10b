"""How machine code runs a program, and learns how that has ended; see `templates`."""

from __future__ import annotations

RUN = """
; Whether a word of a run says that it failed; clears it.
define i1 @has_failed(ptr %word) {
  %has_none = icmp eq ptr %word, null
  br i1 %has_none, label %ok, label %look
look:
  %found = load i64, ptr %word
  %is_ok = icmp eq i64 %found, 0
  br i1 %is_ok, label %ok, label %failed
failed:
  store i64 0, ptr %word
  ret i1 1
ok:
  ret i1 0
}

; Runs the code; says that it failed where a function of Python did that it called.
define i32 @run_code(ptr %executable) {
  %error_at = getelementptr i8, ptr %executable, i64 <Loaded.error>
  %error = load ptr, ptr %error_at
  %needs_no_python = icmp eq ptr %error, null
  br i1 %needs_no_python, label %run, label %enter
enter:
  %can_call = call i1 @enter_python()
  br i1 %can_call, label %run_with_python, label %leave
run_with_python:
  %found = call i32 @run_entry(ptr %executable)
  %was_interrupted = icmp eq i32 %found, <INTERRUPTED>
  %is_due = zext i1 %was_interrupted to i64
  ; Once more: the function may have taken it.
  call void @xla_release_interrupt(i64 %is_due)
  %has_error = call i1 @has_failed(ptr %error)
  %end = select i1 %has_error, i32 <FAILED>, i32 %found
  br label %leave
leave:
  %how = phi i32 [ <FAILED>, %enter ], [ %end, %run_with_python ]
  call void @leave_python()
  ret i32 %how
run:
  %how_alone = call i32 @run_entry(ptr %executable)
  ret i32 %how_alone
}

; How a run has ended that was or was not interrupted, and then whether it failed.
define i32 @end_of(i32 %interrupted, i1 %has_failed) {
  %was_interrupted = icmp ne i32 %interrupted, 0
  %otherwise = select i1 %has_failed, i32 <FAILED>, i32 <DONE>
  %how = select i1 %was_interrupted, i32 <INTERRUPTED>, i32 %otherwise
  ret i32 %how
}

define i32 @run_entry(ptr %executable) {
  %pointers_at = getelementptr i8, ptr %executable, i64 <Loaded.pointers>
  %pointers = load ptr, ptr %pointers_at
  %entry_at = getelementptr i8, ptr %executable, i64 <Loaded.entry>
  %entry = load ptr, ptr %entry_at
  %state_at = getelementptr i8, ptr %executable, i64 <Loaded.state>
  %state = load ptr, ptr %state_at
  %has_state = icmp ne ptr %state, null
  %states = zext i1 %has_state to i64
  %interrupted = call i32 @xla_run(ptr %entry, ptr %state_at, i64 %states, ptr %pointers)
  %has_failed = call i1 @has_failed(ptr %state)
  %how = call i32 @end_of(i32 %interrupted, i1 %has_failed)
  ret i32 %how
}
"""
"""`run_code` calls the code of a loaded program, which may call functions of Python."""
