"""
The LLVM IR of the function that gives the iterations of a parallel loop to the threads of an OpenMP
runtime, and the trampolines of most tasks. Programs share them; they reach them by the table of
`lowerings.targets.llvm.parallel`.

Each thread has a range of the iterations, the same at every call, so that what it wrote in one loop
is in its cache in the next. When it is through it takes over pieces of what others have left, and
those are all pieces of a thread that the system does not let run.
"""

from __future__ import annotations

from collections.abc import Sequence

from lowerings.targets.llvm.attribute_groups import GLUE, definitions

FORK = "xla_fork"
"""`void xla_fork(table, start, values, i64 count)`; the table holds its address, then, as an i64,
the number of threads."""
PARALLEL_POINTER = "xla_gomp_parallel"
THREAD_NUMBER_POINTER = "xla_omp_get_thread_num"
"""Variables to be set to the addresses of `GOMP_parallel` and `omp_get_thread_num`."""

PIECES = 8
"""In how many pieces a thread does its range."""
MOST_THREADS = 256
"""More do not take part in a loop."""

SHARED_STARTS = 12
"""Up to how many words a task may take for its start to be one of these. Few take more."""


def structure_type(types: Sequence[str]) -> str:
    """The LLVM struct type of a task and the captured values of these types (its closure)."""
    return f"{{ {', '.join(['ptr', *types])} }}"


def task_start(symbol: str, types: Sequence[str], linkage: str = "internal ") -> list[str]:
    """
    The trampoline for tasks that capture values of these types: loads task and values from the
    struct and calls the task for a range of iterations.
    """
    structure = structure_type(types)
    lines = [
        f"define {linkage}void {symbol}(ptr %values, i64 %first, i64 %last) {GLUE} {{",
        "  %task = load ptr, ptr %values",
    ]
    for number, type_ in enumerate(types):
        place = f"getelementptr inbounds {structure}, ptr %values, i32 0, i32 {number + 1}"
        lines += [f"  %place{number} = {place}", f"  %v{number} = load {type_}, ptr %place{number}"]
    arguments = [f"{type_} %v{number}" for number, type_ in enumerate(types)]
    call = f"  call void %task({', '.join([*arguments, 'i64 %first', 'i64 %last'])})"
    return [*lines, call, "  ret void", "}"]


STARTS = tuple(f"xla_start_{count}" for count in range(1, SHARED_STARTS + 1))
"""The starts of tasks that take 1 to `SHARED_STARTS` words."""

_STARTS = "\n".join(
    [
        *(
            line
            for count, name in enumerate(STARTS, 1)
            for line in task_start(f"@{name}", ["i64"] * count, linkage="")
        ),
        *definitions("nounwind", inlines=False),
    ]
)

MODULE = f"""\
@{PARALLEL_POINTER} = global ptr null, align 8
@{THREAD_NUMBER_POINTER} = global ptr null, align 8

%work = type {{ ptr, ptr, ptr, i64, i64 }}
%range = type {{ i64, i64, [6 x i64] }}

define void @{FORK}(ptr %table, ptr %start, ptr %values, i64 %count) {{
entry:
  %threads_place = getelementptr i64, ptr %table, i64 1
  %threads = load i64, ptr %threads_place
  %useful = call i64 @llvm.smin.i64(i64 %threads, i64 %count)
  %team = call i64 @llvm.smin.i64(i64 %useful, i64 {MOST_THREADS})
  %several = icmp sgt i64 %team, 1
  br i1 %several, label %share, label %alone
alone:
  call void %start(ptr %values, i64 0, i64 %count)
  ret void
share:
  %ranges = alloca %range, i64 %team, align 64
  %work = alloca %work, align 64
  br label %divide
divide:
  %i = phi i64 [ 0, %share ], [ %next, %divide ]
  %next = add i64 %i, 1
  %before = mul i64 %count, %i
  %first = sdiv i64 %before, %team
  %through = mul i64 %count, %next
  %last = sdiv i64 %through, %team
  %range = getelementptr %range, ptr %ranges, i64 %i
  %end = getelementptr %range, ptr %range, i64 0, i32 1
  store i64 %first, ptr %range
  store i64 %last, ptr %end
  %more = icmp slt i64 %next, %team
  br i1 %more, label %divide, label %fork
fork:
  %pieces = mul i64 %team, {PIECES}
  %even = sdiv i64 %count, %pieces
  %piece = call i64 @llvm.smax.i64(i64 %even, i64 1)
  %place1 = getelementptr %work, ptr %work, i64 0, i32 1
  %place2 = getelementptr %work, ptr %work, i64 0, i32 2
  %place3 = getelementptr %work, ptr %work, i64 0, i32 3
  %place4 = getelementptr %work, ptr %work, i64 0, i32 4
  store ptr %start, ptr %work
  store ptr %values, ptr %place1
  store ptr %ranges, ptr %place2
  store i64 %team, ptr %place3
  store i64 %piece, ptr %place4
  %parallel = load ptr, ptr @{PARALLEL_POINTER}
  %wanted = trunc i64 %team to i32
  call void %parallel(ptr @member, ptr %work, i32 %wanted, i32 0)
  ret void
}}

define internal void @member(ptr %work) {{
entry:
  %place1 = getelementptr %work, ptr %work, i64 0, i32 1
  %place2 = getelementptr %work, ptr %work, i64 0, i32 2
  %place3 = getelementptr %work, ptr %work, i64 0, i32 3
  %place4 = getelementptr %work, ptr %work, i64 0, i32 4
  %start = load ptr, ptr %work
  %values = load ptr, ptr %place1
  %ranges = load ptr, ptr %place2
  %team = load i64, ptr %place3
  %piece = load i64, ptr %place4
  %thread_number = load ptr, ptr @{THREAD_NUMBER_POINTER}
  %own = call i32 %thread_number()
  %me = sext i32 %own to i64
  br label %visit
visit:
  %turn = phi i64 [ 0, %entry ], [ %following, %done ]
  %following = add i64 %turn, 1
  %ahead = add i64 %me, %turn
  %which = srem i64 %ahead, %team
  %range = getelementptr %range, ptr %ranges, i64 %which
  %end = getelementptr %range, ptr %range, i64 0, i32 1
  %last = load i64, ptr %end
  br label %take
take:
  %first = atomicrmw add ptr %range, i64 %piece monotonic, align 8
  %left = icmp slt i64 %first, %last
  br i1 %left, label %run, label %done
run:
  %full = add i64 %first, %piece
  %until = call i64 @llvm.smin.i64(i64 %full, i64 %last)
  call void %start(ptr %values, i64 %first, i64 %until)
  br label %take
done:
  %more = icmp slt i64 %following, %team
  br i1 %more, label %visit, label %leave
leave:
  ret void
}}

{_STARTS}
"""
"""The text of the module."""
