"""
A program of somebody else, made of xDSL: stock `xdsl-opt`, and a script with classes of its own.

`python foreign_tool.py alone` prints what both do where this project is not installed.
`python foreign_tool.py beside` runs all passes and targets of this project in stock `xdsl-opt`,
imports all of its modules and compiles with them, and prints the same again; it fails where a class
or a function of xDSL is another than before.
"""

# ruff: noqa: PLC0415
# This project is imported where it is used: what xDSL is without it is looked at before.

import importlib
import pkgutil
import sys
import tempfile
from abc import ABCMeta
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Protocol

import xdsl.dialects
import xdsl.transforms
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, StringAttr, f32, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException
from xdsl.xdsl_opt_main import xDSLOptMain

TEXTS = {
    "literals": """
%0 = arith.constant dense<[0xFF800000, 0.0]> : tensor<2xf32>
%1 = arith.constant dense<[0.0, -0.0]> : tensor<2xf32>
%2 = arith.constant dense<[true, false]> : tensor<2xi1>
%3 = arith.constant dense<"0x0000803F000080FF"> : tensor<2xf32>
%4 = arith.constant dense<(1.0, -0.0)> : tensor<2xcomplex<f32>>
%5 = arith.constant 0xFF800000 : f32
%6 = "test.op"() {a = dense<-1> : vector<3xi8>, b = #builtin.int<3>} : () -> i32
""",
    "linalg": """
func.func @f(%x: memref<4x8xf32>, %y: memref<8xf32>, %z: memref<4x8xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                     affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %y : memref<4x8xf32>, memref<8xf32>) outs(%z : memref<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  func.return
}
""",
    "loops": """
func.func @f(%x: memref<8xi32>) -> i32 {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %8 = arith.constant 8 : index
  %z = arith.constant 0 : i32
  %unused = arith.addi %z, %z : i32
  %r = scf.for %i = %0 to %8 step %1 iter_args(%a = %z) -> (i32) {
    %v = memref.load %x[%i] : memref<8xi32>
    %c = arith.cmpi slt, %v, %a : i32
    %s = arith.select %c, %v, %a : i32
    scf.yield %s : i32
  }
  func.return %r : i32
}
""",
}
"""What `xdsl-opt` does well, though not always right: literals as numbers, splats of -0.0."""

PASSES = ("", "canonicalize", "cse", "dce", "convert-linalg-to-loops", "convert-scf-to-cf")

MISTAKES = (
    "%0 = arith.constant dense<[1.0, 2.0]> : tensor<3xf32>",
    "%0 = arith.constant dense<0x1FFFFFFFF> : tensor<3xi32>",
    "%0 = arith.constant dense<1.0e99> : tensor<2xf32>",
    "%0 = arith.addi %a, %a : i32",
    '%0 = "arith.addi"() : () -> i32',
    "%0 = foreign.op",
    "func.func @f() {",
    "%0 = arith.constant 1 : i32\n%1 = arith.addf %0, %0 : i32",
    "func.func @f() -> i32 {\n  func.return\n}",
    "func.func @f() {\n  func.call @missing() : () -> ()\n  func.return\n}",
    "%0:2 = linalg.generic {} -> tensor<2xf32>",
    '"test.op"() ({ ^b(%a: i32): "test.op"(%b) : (i32) -> () }) : () -> ()',
    '"test.op"() {s = "no end} : () -> ()',
)

OURS = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %c = xla.constant dense<[[0xFF800000, 0.0, -0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x8xf32>
  %r = xla.reshape %c : (tensor<1x8xf32>) -> tensor<8xf32>
  %b = xla.broadcast %r {dimensions = [1]} : (tensor<8xf32>) -> tensor<4x8xf32>
  %s = xla.add %x, %b : tensor<4x8xf32>
  %t = xla.tanh %s : tensor<4x8xf32>
  %z = xla.constant dense<-0.0> : tensor<f32>
  %m = xla.reduce %t, %z {dimensions = [1]} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
      to_apply (%p: tensor<f32>, %q: tensor<f32>) {
    %a = xla.add %p, %q : tensor<f32>
    xla.return %a : tensor<f32>
  }
  func.return %m : tensor<4xf32>
}
"""
STABLEHLO = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<[0xFF800000, -0.0]> : tensor<2xf32>
  %s = stablehlo.add %x, %c : tensor<2xf32>
  func.return %s : tensor<2xf32>
}
"""


def xdsl_opt(text: str, *arguments: str) -> str:
    """What stock `xdsl-opt` prints, or the exception that it raises."""
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder) / "file.mlir").write_text(text, encoding="utf-8")
        output = StringIO()
        try:
            with redirect_stdout(output), redirect_stderr(output):
                xDSLOptMain(args=[str(file), *arguments]).run()
        except Exception as error:
            return f"{type(error).__name__}: {error}".replace(folder, "")
        return output.getvalue()


# ---- A script with classes of its own


class Named(Protocol):
    """A protocol of somebody else."""

    name: str


class Meta(ABCMeta):
    """A metaclass of somebody else."""

    def __instancecheck__(cls, instance: object) -> bool:
        return getattr(instance, "foreign", False) or super().__instancecheck__(instance)


def own_classes() -> Iterator[object]:
    """What can be done with classes derived from xDSL's, made anew at every call."""

    class WithProtocol(Operation, Named):
        name = "foreign.protocol"

    class WithMeta(Operation, metaclass=Meta):
        name = "foreign.meta"

    class TypeWithMeta(Attribute, metaclass=Meta):
        name = "foreign.type"

    @irdl_op_definition
    class Defined(IRDLOperation):
        name = "foreign.defined"
        lhs = operand_def(i32)
        result = result_def(i32)

    class Renaming(ModulePass):
        name = "foreign-renaming"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            op.attributes["foreign"] = StringAttr("seen")

    class Foreign:
        pass

    constant = arith.ConstantOp.from_int_and_width(1, 32)
    defined = Defined(operands=[constant], result_types=[i32])
    # Not of one of xDSL's abstract classes before, and of it after.
    for abstract in (Attribute, Operation, SSAValue, Block, Region, StringAttr, ModulePass):
        before = isinstance(Foreign(), abstract), issubclass(Foreign, abstract)
        if isinstance(abstract, ABCMeta):
            abstract.register(Foreign)
        yield abstract, type(abstract), before, isinstance(Foreign(), abstract)
    yield from (type(each) for each in (WithProtocol, WithMeta, TypeWithMeta, Defined, Renaming))
    things: tuple[Any, ...] = (
        i32,
        f32,
        StringAttr("a"),
        constant,
        constant.result,
        defined,
        Foreign(),
        3,
        None,
    )
    classes = (Attribute, Operation, SSAValue, StringAttr, arith.ConstantOp, WithMeta, Defined)
    yield [[isinstance(thing, each) for each in classes] for thing in things]
    things[6].foreign = True
    yield isinstance(things[6], WithMeta), isinstance(things[6], TypeWithMeta)
    yield WithProtocol.create().name, WithMeta.create().name, f"{defined}", hash(i32) == hash(i32)
    module = ModuleOp([constant, defined])
    Renaming().apply(Context(), module)
    yield f"{module.clone()}", module.is_structurally_equivalent(module.clone())
    other = Defined(operands=[defined.result], result_types=[f32])
    yield failure(other.verify)
    yield failure(lambda: arith.AddiOp(constant, constant, i32).verify())
    yield failure(lambda: Defined(operands=[], result_types=[]))
    yield failure(lambda: module.body.block.erase_op(constant))
    yield failure(lambda: Parser(Context(), "dense<1.0> : i32").parse_attribute())


def failure(action: Any) -> str:
    """The exception that an action raises, and its text."""
    try:
        action()
    except (DiagnosticException, ParseError, VerifyException, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "none"


def observations() -> list[str]:
    """All that the tool and the script say."""
    found: list[str] = []
    for text in TEXTS.values():
        for name in PASSES:
            found.append(xdsl_opt(text, "-p", name))
        found.append(xdsl_opt(text, "--print-op-generic"))
    assert all("Error" not in line and "Exception" not in line for line in found), found
    found += [xdsl_opt(text) for text in MISTAKES]
    assert all("Error" in line or "Exception" in line for line in found[-len(MISTAKES) :]), found
    return found + [str(each) for each in own_classes()]


# ---- Whether classes and functions of xDSL are what they were

# What Python itself keeps in a class, for `isinstance`, pickling and matching, and the names of
# registers that xDSL remembers when it prints the first.
KEPT = (
    *("__annotations__", "_abc_impl", "__abstractmethods__", "__dict__", "__weakref__"),
    "_ABI_NAME_BY_INDEX",
)

State = dict[tuple[str, str], tuple[Any, ...]]


def snapshot() -> State:
    """Every class and function of xDSL, with the attributes of classes."""
    found: State = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != "xdsl":
            continue
        for key, value in vars(module).items():
            if isinstance(value, type) and value.__module__.split(".")[0] == "xdsl":
                found[value.__module__, value.__qualname__] = type(value), dict(vars(value))
            elif isinstance(value, FunctionType):
                found[name, key] = value, value.__code__, value.__defaults__
    return found


def changes(before: State, after: State) -> Iterator[tuple[str, ...]]:
    """The places that differ."""
    for place, state in before.items():
        other = after[place]
        if isinstance(state[0], FunctionType):
            if state != other:
                yield place
            continue
        if state[0] is not other[0]:
            yield (*place, "metaclass")
        for name in state[1].keys() | other[1].keys():
            if name not in KEPT and state[1].get(name) is not other[1].get(name):
                yield (*place, name)


def import_all(*packages: ModuleType, without: str = "-") -> None:
    """Imports all modules of packages, but those that need an extra that is missing."""
    for package in packages:
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not module.name.startswith(without):
                try:
                    importlib.import_module(module.name)
                except ImportError as error:
                    if (error.name or "").split(".")[0] in ("lowerings", "xla_dialect"):
                        raise


# ---- This project in the tool of somebody else

SCALARS = """
func.func @main(%x: memref<f64>) {
  %0 = memref.load %x[] : memref<f64>
  %1 = arith.negf %0 : f64
  memref.store %1, %x[] : memref<f64>
  func.return
}
"""


RULES = Path(__file__).parents[1] / "tools" / "rules"
OF_FILES = {"pdl": RULES / "roots.pdl", "python": RULES / "drop_abs.py"}
"""Passes that stand in files."""
HIGH_TARGETS = ("hlo", "hlo-proto", "stablehlo", "stablehlo-bytecode")
"""They print the dialect, not what it is lowered to."""


def use_in_xdsl_opt() -> None:
    """Runs every pass and every target of this project in stock `xdsl-opt`."""
    from lowerings.pipelines import NATIVE, pass_specs
    from lowerings.universe import UNIVERSE

    specs = pass_specs(NATIVE)
    others = UNIVERSE.all_passes.keys() - {spec.partition("{")[0] for spec in specs}
    run: list[str] = []
    for spec in sorted(others):
        text = STABLEHLO if "stablehlo" in spec else OURS
        if spec in OF_FILES:
            spec = f'{spec}{{file="{OF_FILES[spec]}"}}'
        run.append(printed := xdsl_opt(text, "-p", spec))
        assert printed.startswith("builtin.module"), (spec, printed)
    printed = xdsl_opt(OURS, "-p", ",".join(specs), "--print-between-passes")
    assert printed.count("IR after ") == len(specs) - 1, printed
    assert "vector.load" in printed, printed
    for target in UNIVERSE.all_targets:
        is_for_scalars = target == "xdsl-riscv-asm"
        is_lowered = target not in HIGH_TARGETS and not is_for_scalars
        passes = ("-p", ",".join(specs)) if is_lowered else ()
        printed = xdsl_opt(SCALARS if is_for_scalars else OURS, "-t", target, *passes)
        # Bytes are no text: stock `xdsl-opt` has no place for them.
        is_text = not target.endswith(("-object", "-bytecode", "-proto"))
        assert ("main" in printed) is is_text, (target, printed)


def use_in_python() -> None:
    """Imports every module of this project, makes all of its classes, and compiles with it."""
    import numpy as np

    import lowerings
    import xla_dialect
    from lowerings.universe import UNIVERSE, toolkit_universe

    import_all(xla_dialect, lowerings, without="lowerings.jax")
    universe = toolkit_universe()
    for table in (universe.all_dialects, UNIVERSE.all_passes, UNIVERSE.all_targets):
        for factory in table.values():
            try:
                factory()
            except ImportError:  # a dialect of xDSL that needs an extra
                pass
    program = lowerings.compile(OURS, input_format="mlir")
    program(np.zeros((4, 8), np.float32))


def difference(before: Iterable[str], after: Iterable[str]) -> list[tuple[str, str]]:
    """What is said otherwise."""
    return [(a, b) for a, b in zip(before, after, strict=True) if a != b]


def main(mode: str) -> None:
    """Prints what the tool and the script say, see above."""
    if mode == "alone":
        Universe.get_multiverse = staticmethod(lambda: XDSL_UNIVERSE)
        print(*observations(), sep="\n")
        return
    import_all(xdsl.dialects, xdsl.transforms)
    before = snapshot()
    assert len(before) > 1000
    first = observations()
    for use in (use_in_xdsl_opt, use_in_python):
        use()
        assert not (found := difference(first, observations())), (use.__name__, found)
        assert not (changed := list(changes(before, snapshot()))), (use.__name__, changed)
    print(*first, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
