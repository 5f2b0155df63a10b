"""`xla-name-operations` names operations whose locations the explorer has marked."""

from xdsl.dialects.builtin import ArrayAttr, FusedLoc, IntAttr, NameLoc, NoneAttr, StringAttr

from lowerings.driver.context import make_context
from lowerings.driver.program import parse_program
from lowerings.profiling.xla_name_operations import XlaNameOperationsPass
from xla_dialect.ops.elementwise import AddOp

PROGRAM = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = xla.add %x, %x : tensor<4xf32>
  %1 = xla.add %0, %x : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
"""


def test_marks_stay_around_names() -> None:
    module = parse_program(PROGRAM, "program.mlir", verified=True)
    first, second = (op for op in module.walk() if isinstance(op, AddOp))
    places = first.location, second.location
    first.location = FusedLoc(ArrayAttr(places[:1]), IntAttr(7))
    second.location = several = FusedLoc(ArrayAttr(places), NoneAttr())
    XlaNameOperationsPass().apply(make_context(), module)
    named = NameLoc(StringAttr("add"), places[0])
    assert first.location == FusedLoc(ArrayAttr((named,)), IntAttr(7))
    assert second.location == several
