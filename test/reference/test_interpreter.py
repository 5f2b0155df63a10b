"""`run`: arguments, entries, limits, and errors that say where."""

from typing import Any

import numpy as np
import pytest
from small_programs import constant, evaluate, function, numbers, same, shape, tuple_of
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    ModuleOp,
    StringAttr,
    f32,
)
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions

from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.literals.arrays import MEMORY_LIMIT, flatten_results
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.reference import ReferenceInterpreter, register_reference, run
from xla_dialect.runtime.runs import nest_arguments
from xla_dialect.types import array
from xla_dialect.violations import OperationError

PAIR = numbers("f32", [1, 2])


def adding() -> ModuleOp:
    return ModuleOp([function("main", ["f32[2]", "f32[2]"], AddOp)])


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (numbers("f32", [1, 2, 3]), "@main: parameter 1: expected f32[2], found f32[3]"),
        (numbers("f64", [1, 2]), "@main: parameter 1: expected f32[2], found f64[2]"),
        (numbers("s4", [[1]]), "@main: parameter 1: expected f32[2], found s4[1,1]"),
        (np.array(["a"]), "@main: parameter 1: expected f32[2], found <U1[1]"),
        (None, "@main: parameter 1: expected f32[2], found a Python NoneType"),
        ((PAIR, PAIR), "@main: parameter 1: expected f32[2], found a Python tuple of 2"),
        (PAIR.astype(">f4"), "@main: parameter 1: expected f32[2], found >f4[2]"),
    ],
    ids=str,
)
def test_wrong_argument(argument: Any, message: str):
    with pytest.raises(XlaError) as error:
        run(adding(), [PAIR, argument])
    assert str(error.value).replace("float32", ">f4") == message


def test_wrong_number_of_arguments():
    with pytest.raises(XlaError, match=r"@main takes 2 arguments \(f32\[2\], f32\[2\]\), found 1"):
        run(adding(), [PAIR])


def test_parameters_are_named():
    module = adding()
    (main,) = module.ops
    main.regions[0].block.args[0].name_hint = "x"
    with pytest.raises(XlaError, match=r"@main: parameter 0 \(%x\)"):
        run(module, [numbers("s32", 1), PAIR])


def test_tuple_arguments():
    value = (PAIR, (numbers("s32", 1), ()))
    same(evaluate(lambda t: t, value), value)
    type_ = tuple_of("f32[2]", tuple_of("s32[]", tuple_of()))
    module = ModuleOp([function("main", [type_, "f32[2]"], lambda t, x: t)])
    nested = nest_arguments(module, [PAIR, numbers("s32", 1), PAIR])
    same(run(module, nested), (value,))
    same(flatten_results(run(module, nested)), (PAIR, numbers("s32", 1)))
    with pytest.raises(XlaError, match="takes 3 arguments"):
        nest_arguments(module, [PAIR])
    with pytest.raises(XlaError, match=r"@main: parameter 0\.1\.0: expected s32\[\], found f32\[2"):
        run(module, [(PAIR, (PAIR, ())), PAIR])
    with pytest.raises(XlaError, match=r"@main: parameter 0: expected \(f32.*found a Python list"):
        run(module, [[PAIR], PAIR])


def test_lists_and_array_likes():
    class Like:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return PAIR

    (total,) = run(adding(), [Like(), memoryview(PAIR.data)])
    same(total, numbers("f32", [2, 4]))


def test_scalars_are_arrays():
    result = evaluate(AddOp, np.float32(1), np.float32(2))
    same(result, numbers("f32", 3))


def test_entry():
    module = ModuleOp(
        [
            function("one", [], lambda: constant("s32", 1)),
            FuncOp.external("outside", [], []),
            FuncOp("empty", FunctionType.from_lists([], [])),
        ]
    )
    same(run(module, entry="one"), (numbers("s32", 1),))
    with pytest.raises(
        XlaError, match="there is no function @main; the module has @one, @outside, @empty"
    ):
        run(module)
    with pytest.raises(XlaError, match="@outside is only declared"):
        run(module, entry="outside")
    with pytest.raises(XlaError, match="@empty is only declared"):
        run(module, entry="empty")
    with pytest.raises(XlaError, match="the module has none"):
        run(ModuleOp([]))


def huge(x: Any) -> Any:
    return BroadcastOp(x, dimensions=[], result_types=[shape("f32[1000000,1000000]")])


def test_memory_limit():
    """Nothing is allocated for a size that a program merely declares."""
    with pytest.raises(
        OperationError, match=r"xla.broadcast: f32\[1000000,1000000\] has 4000000000"
    ):
        evaluate(huge, np.float32(0))
    iota = shape("s8[9223372036854775807]")
    with pytest.raises(OperationError, match="the limit is"):
        evaluate(lambda: IotaOp(iota_dimension=0, result_types=[iota]))
    with pytest.raises(OperationError, match="has 8 bytes, the limit is 4 bytes"):
        evaluate(AddOp, PAIR, PAIR, memory_limit=4)
    assert MEMORY_LIMIT == 1 << 32


def test_dynamic_sizes_are_not_evaluated():
    dynamic = array(f32, [DYNAMIC_INDEX])
    module = ModuleOp(
        [function("main", [], lambda: test.TestOp(result_types=[dynamic]).results[0])]
    )
    with pytest.raises(XlaError, match=r"test.op: .*f32\[\?\]"):
        run(module)


def test_unknown_operation():
    module = ModuleOp(
        [function("main", [], lambda: test.TestOp(result_types=[shape("f32[]")]).results[0])]
    )
    with pytest.raises(XlaError, match=r"test.op: the reference does not evaluate this operation"):
        run(module)


def test_errors_have_a_place():
    def build(x: Any) -> Any:
        op = huge(x)
        op.location = FileLineColLoc(StringAttr("program.hlo"), IntAttr(3), IntAttr(5))
        return op

    with pytest.raises(LocatedError, match=r"^program.hlo:3:5: error: xla.broadcast: f32") as error:
        evaluate(build, np.float32(0))
    assert not getattr(error.value, "__notes__", []), "xDSL prints the whole module into notes"


def test_stock_interpreter():
    """The registrations also work in xDSL's own interpreter."""
    interpreter = Interpreter(adding())
    register_reference(interpreter)
    (total,) = interpreter.call_op("main", (PAIR, PAIR))
    same(total, numbers("f32", [2, 4]))
    other = Interpreter(adding())
    other.register_implementations(FuncFunctions())


def test_listeners_see_every_operation():
    seen: list[str] = []

    class Listener(Interpreter.Listener):
        def will_interpret_op(self, op: Any, args: Any) -> None:
            seen.append(op.name)

    interpreter = ReferenceInterpreter(adding(), listeners=(Listener(),))
    register_reference(interpreter)
    interpreter.call_op("main", (PAIR, PAIR))
    assert seen == ["xla.add", "func.return"]


@pytest.mark.filterwarnings("error")
def test_no_warnings():
    """Overflow, division by zero and NaNs are nothing to warn of."""
    evaluate(AddOp, numbers("s32", 2**31 - 1), numbers("s32", 1))
    evaluate(AddOp, np.float32(3e38), np.float32(3e38))
