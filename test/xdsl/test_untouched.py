"""xDSL stays as it is, for whoever uses it beside us."""

import subprocess
import sys
from pathlib import Path

import pytest

SNAPSHOT = """
import importlib, pkgutil, sys
from types import FunctionType


def snapshot():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != "xdsl" or module is None:
            continue
        for key, value in vars(module).items():
            if isinstance(value, type) and value.__module__.split(".")[0] == "xdsl":
                found[value.__module__, value.__qualname__] = (type(value), dict(vars(value)))
            elif isinstance(value, FunctionType):
                found[name, key] = (value, value.__code__, value.__defaults__)
    return found


# What Python itself keeps in a class, for `isinstance`, pickling and matching.
KEPT = ("__annotations__", "_abc_impl", "__abstractmethods__", "__dict__", "__weakref__")


def changes(before, after):
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


import xdsl.dialects, xdsl.transforms
for package in (xdsl.dialects, xdsl.transforms):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            importlib.import_module(module.name)
        except ImportError:  # what needs an extra of xDSL
            pass
before = snapshot()
assert len(before) > 1000
"""

USED = """
import lowerings, tools, xla_dialect
import numpy as np
from lowerings.universe import UNIVERSE, toolkit_universe
for package in (xla_dialect, lowerings):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.startswith("lowerings.jax"):
            importlib.import_module(module.name)
for table in (toolkit_universe().all_dialects, UNIVERSE.all_passes, UNIVERSE.all_targets):
    for factory in table.values():
        try:
            factory()
        except ImportError:
            pass
text = '''func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = xla.constant dense<[0xFF800000, 0.0, -0.0, 1.0]> : tensor<4xf32>
  %s = xla.add %x, %c : tensor<4xf32>
  func.return %s : tensor<4xf32>
}'''
program = lowerings.compile(text, input_format="mlir")
program(np.zeros(4, np.float32))
found = list(changes(before, snapshot()))
assert not found, found
"""

PROTOCOLS = """
from typing import Protocol
from abc import ABCMeta
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.dialects import arith
from xdsl.dialects.builtin import i32, StringAttr


class Named(Protocol):
    name: str


class Meta(ABCMeta):
    pass


class WithProtocol(Operation, Named):
    name = "foreign.protocol"


class WithMeta(Operation, metaclass=Meta):
    name = "foreign.meta"


class Foreign:
    pass


Attribute.register(Foreign)
Operation.register(Foreign)
print(isinstance(Foreign(), Attribute), isinstance(Foreign(), Operation), isinstance(3, Attribute))
print(issubclass(Foreign, Attribute), isinstance(Foreign(), SSAValue), isinstance(i32, StringAttr))
print(WithProtocol.create().name, WithMeta.create().name, type(WithMeta).__name__)
print(arith.ConstantOp.from_int_and_width(1, 32))
"""

OF_OURS = "import xla_dialect.dialect, lowerings.compilation, xla_dialect.stablehlo\n"


def output_of(program: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_no_class_and_no_function_is_changed() -> None:
    output_of(SNAPSHOT + USED)


def test_a_script_with_classes_of_its_own() -> None:
    assert output_of(OF_OURS + PROTOCOLS) == output_of(PROTOCOLS)


FOREIGN = """\
%0 = arith.constant dense<[0xFF800000, 0.0]> : tensor<2xf32>
%1 = arith.constant dense<[0.0, -0.0]> : tensor<2xf32>
"""
OURS = "%2 = xla.constant dense<[0xFF800000, -0.0]> : tensor<2xf32>\n"


def xdsl_opt(text: str, *arguments: str) -> list[str]:
    answer = subprocess.run(
        [Path(sys.executable).with_name("xdsl-opt"), *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()


@pytest.mark.parametrize("arguments", [(), ("-p", "xla-inline")])
def test_stock_xdsl_opt_reads_its_own_operations_in_its_own_way(arguments: tuple[str, ...]) -> None:
    alone = [line for line in xdsl_opt(FOREIGN) if "constant" in line]
    # Before and after an operation of ours.
    mixed = xdsl_opt(FOREIGN + OURS + FOREIGN.replace("%0", "%3").replace("%1", "%4"), *arguments)
    values = [line.split(" = ", 1)[1] for line in mixed if "arith.constant" in line]
    assert values == [line.split(" = ", 1)[1] for line in alone] * 2


def test_stock_xdsl_opt_reads_our_literals_as_we_do() -> None:
    (line,) = (line for line in xdsl_opt(OURS) if "constant" in line)
    assert line.endswith("xla.constant dense<[0xFF800000, -0.000000e+00]> : tensor<2xf32>")
