"""Modules loaded in less time are those that Python loads; in processes that have loaded none."""

import subprocess
import sys

LOAD = "from xdsl.dialects import arith, memref, tensor\n"
QUICKLY = f"""\
import gc
from lowerings.driver.collector import loading
with loading():
    assert not gc.isenabled()
    with loading():
        pass
    {LOAD.strip()}
assert gc.isenabled() and not gc.get_freeze_count()
"""
USE = """
from xdsl.context import Context
from xdsl.dialects import builtin, func
from xdsl.parser import Parser
context = Context()
for dialect in (builtin.Builtin, func.Func, arith.Arith, memref.MemRef, tensor.Tensor):
    context.load_dialect(dialect)
text = '''
func.func @f(%a: i32, %m: memref<4xf32>, %t: tensor<?xf32>, %i: index) -> index {
  %c = arith.constant 1 : i32
  %s = arith.addi %a, %c overflow<nsw> : i32
  %p = arith.cmpi slt, %s, %a : i32
  %d = memref.dim %m, %i : memref<4xf32>
  %e = tensor.dim %t, %i : tensor<?xf32>
  %r = arith.select %p, %d, %e : index
  func.return %r : index
}'''
module = Parser(context, text).parse_module()
module.verify()
print(module)
"""


def printed_by(script: str) -> str:
    return subprocess.check_output([sys.executable, "-c", script], text=True)


def test_operations_are_parsed_and_printed_as_they_are_otherwise() -> None:
    plainly, quickly = (printed_by(load + USE) for load in (LOAD, QUICKLY))
    assert "arith.addi %a, %c overflow<nsw> : i32" in plainly
    assert quickly == plainly


def test_garbage_does_not_grow_old_where_nothing_is_loaded() -> None:
    """Python's collector seldom looks at the oldest generation."""
    script = (
        QUICKLY
        + """
gc.collect()
made = []
made.append(made)
with loading():
    pass
print(any(each is made for each in gc.get_objects(generation=2)))
"""
    )
    assert printed_by(script) == "False\n"


def test_a_child_of_another_thread_collects_garbage() -> None:
    script = (
        QUICKLY
        + """
import os
from threading import Event, Thread
inside, leave = Event(), Event()
def load():
    with loading():
        inside.set()
        leave.wait()
loader = Thread(target=load)
loader.start()
inside.wait()
if not (child := os.fork()):
    os._exit(0 if gc.isenabled() else 1)
print(os.waitpid(child, 0)[1], gc.isenabled())
leave.set()
loader.join()
print(gc.isenabled())
"""
    )
    assert printed_by(script).split("\n") == ["0 False", "True", ""]
