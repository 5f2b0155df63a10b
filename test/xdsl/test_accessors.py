"""Named operands and results of our classes are those that xDSL's accessors give."""

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.irdl.operations import BaseAccessor, BeforeVariadicSingleAccessor

from lowerings.driver.context import make_context
from xla_dialect.dialect import XLA
from xla_dialect.mlir_text import read_mlir
from xla_dialect.op import XlaOp
from xla_dialect.ops.elementwise_binary import SubtractOp
from xla_dialect.xdsl.creation import location_at


@pytest.mark.parametrize("operation", list(XLA.operations), ids=lambda operation: operation.name)
def test_what_stands_before_variadic_ones_has_its_place(operation: type[XlaOp]) -> None:
    operation.contract()
    definition = operation.get_irdl_definition()
    for name, accessor in vars(operation).items():
        if isinstance(accessor, BeforeVariadicSingleAccessor):
            for names in (definition.operands, definition.results, definition.regions):
                if name in dict(names):
                    assert [each for each, _ in names].index(name) == accessor.idx


def test_operands_and_results() -> None:
    text = (
        "%0 = xla.constant dense<1.0> : tensor<f32>\n%1 = xla.constant dense<2.0> : tensor<f32>\n"
    )
    module = read_mlir(text + "%2 = xla.subtract %0, %1 : tensor<f32>", make_context())
    one, two, difference = module.ops
    assert isinstance(difference, SubtractOp)
    assert difference.lhs is one.results[0]
    assert difference.rhs is two.results[0]
    assert difference.result is difference.results[0]
    with pytest.raises(NotImplementedError):
        difference.lhs = difference.rhs


def test_classes_of_others_keep_theirs() -> None:
    accessor = vars(arith.AddiOp)["lhs"]
    assert isinstance(accessor, BaseAccessor)
    assert type(accessor).__module__.startswith("xdsl.")


def test_a_location_is_that_of_the_constructor() -> None:
    parts = StringAttr("f.mlir"), IntAttr(3), IntAttr(7)
    assert location_at(*parts) == FileLineColLoc(*parts)
    assert hash(location_at(*parts)) == hash(FileLineColLoc(*parts))
    location_at(*parts).verify()
