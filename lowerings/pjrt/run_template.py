"""How machine code runs a program, and learns whether that failed; see `templates`."""

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

; Runs the code; whether none of its checks failed, and no function of Python that it called.
define i1 @run_code(ptr %executable) {
  %error_at = getelementptr i8, ptr %executable, i64 <Loaded.error>
  %error = load ptr, ptr %error_at
  %needs_no_python = icmp eq ptr %error, null
  br i1 %needs_no_python, label %run, label %enter
enter:
  %can_call = call i1 @enter_python()
  br i1 %can_call, label %run_with_python, label %leave
run_with_python:
  %is_fine = call i1 @run_entry(ptr %executable)
  %has_error = call i1 @has_failed(ptr %error)
  %has_none = xor i1 %has_error, 1
  %is_all_fine = and i1 %is_fine, %has_none
  br label %leave
leave:
  %is_done = phi i1 [ 0, %enter ], [ %is_all_fine, %run_with_python ]
  call void @leave_python()
  ret i1 %is_done
run:
  %is_ok = call i1 @run_entry(ptr %executable)
  ret i1 %is_ok
}

define i1 @run_entry(ptr %executable) {
  %pointers_at = getelementptr i8, ptr %executable, i64 <Loaded.pointers>
  %pointers = load ptr, ptr %pointers_at
  %entry_at = getelementptr i8, ptr %executable, i64 <Loaded.entry>
  %entry = load ptr, ptr %entry_at
  call void @xla_run(ptr %entry, ptr %pointers)
  %failure_at = getelementptr i8, ptr %executable, i64 <Loaded.failure>
  %failure = load ptr, ptr %failure_at
  %has_failed = call i1 @has_failed(ptr %failure)
  %is_ok = xor i1 %has_failed, 1
  ret i1 %is_ok
}
"""
"""`run_code` calls the code of a loaded program, which may call functions of Python."""
