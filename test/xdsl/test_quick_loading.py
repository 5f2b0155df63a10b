"""Dialects loaded in less time are those that xDSL loads; in processes that have loaded none."""

import subprocess
import sys
import textwrap

LOAD = "from xdsl.dialects import arith, memref, tensor\n"
QUICKLY = f"""\
import gc
from xdsl.irdl.declarative_assembly_format import FormatProgram
from lowerings.driver.loading import quick_loading
with quick_loading():
    assert not gc.isenabled()
    with quick_loading():
        pass
    {LOAD.strip()}
    assert not any(isinstance(each, FormatProgram) for each in gc.get_objects())
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
LATER = """
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.utils.exceptions import PyRDLOpDefinitionError
try:
    @irdl_op_definition
    class Wrong(IRDLOperation):
        name = "test.wrong"
        assembly_format = "$nothing attr-dict"
except PyRDLOpDefinitionError:
    print("read at once")
"""


def printed_by(script: str) -> str:
    return subprocess.check_output([sys.executable, "-c", script], text=True)


def test_operations_are_parsed_and_printed_as_they_are_otherwise() -> None:
    plainly, quickly = (printed_by(load + USE + LATER) for load in (LOAD, QUICKLY))
    assert "arith.addi %a, %c overflow<nsw> : i32" in plainly
    assert quickly == plainly
    assert quickly.endswith("read at once\n")


def test_garbage_does_not_grow_old_where_nothing_is_loaded() -> None:
    """Python's collector seldom looks at the oldest generation."""
    script = (
        QUICKLY
        + """
gc.collect()
made = []
made.append(made)
with quick_loading():
    pass
print(any(each is made for each in gc.get_objects(generation=2)))
"""
    )
    assert printed_by(script) == "False\n"


def test_other_threads_and_children_are_left_alone() -> None:
    script = (
        QUICKLY
        + "def define():\n"
        + textwrap.indent(LATER.replace('print("read at once")', "return True"), "    ")
        + """
import os
from threading import Event, Thread
inside, leave = Event(), Event()
def load():
    with quick_loading():
        inside.set()
        leave.wait()
loader = Thread(target=load)
loader.start()
inside.wait()
print(define(), flush=True)
if not (child := os.fork()):
    os._exit(0 if define() and gc.isenabled() else 1)
print(os.waitpid(child, 0)[1], gc.isenabled())
leave.set()
loader.join()
print(gc.isenabled())
"""
    )
    assert printed_by(script).split("\n") == ["True", "0 False", "True", ""]
