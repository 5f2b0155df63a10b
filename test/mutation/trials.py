"""
A process that forks for every job.

There are two kinds. One has loaded all passes: a child compiles a program step by step, and forks
for each mutation of functions. The other has loaded nothing of `lowerings`: there a child loads a
module whose tables are changed, before those who read them.
"""

import importlib
import os
import pickle
import resource
import sys
from typing import Any, BinaryIO

from mutation.changing import change_when_loaded, load

SECONDS_OF_A_JOB = 1800
"""Of processor time."""


def outcome_of(job: dict[str, Any]) -> Any:
    """What becomes of a job, in this process."""
    if "change_when_loaded" in job:
        change_when_loaded(*job["change_when_loaded"])
    # Only now: what it needs may be changed.
    return importlib.import_module("mutation.judging").JOBS[job["job"]](job)


def in_child(job: dict[str, Any]) -> Any:
    """The outcome of a job."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_OF_A_JOB, SECONDS_OF_A_JOB))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        try:
            outcome = outcome_of(job)
        except BaseException as error:
            outcome = {"status": "stopped", "message": repr(error)[:300]}
        with os.fdopen(writing, "wb") as file:
            pickle.dump(outcome, file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else {"status": "stopped", "message": "the process ended"}


UNCHANGED = (
    *("llvmlite", "numpy", "xdsl.universe", "xla_dialect.builder", "xla_dialect.ops"),
    *("xla_dialect.hlo_text", "xla_dialect.reference.interpreter", "xla_dialect.stablehlo"),
)
"""What takes time to load, and is never changed."""


def main() -> None:
    """Reads jobs, writes an outcome for each."""
    for name in UNCHANGED:
        importlib.import_module(name)
    assert not any(name.startswith("lowerings") for name in sys.modules)
    if "--loaded" in sys.argv:
        load()
    jobs: BinaryIO = sys.stdin.buffer
    while True:
        try:
            job = pickle.load(jobs)
        except EOFError:
            return
        pickle.dump(in_child(job), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
