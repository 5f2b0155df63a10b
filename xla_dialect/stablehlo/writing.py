# pyright: reportPrivateUsage=false
"""The `xla` dialect as StableHLO text that StableHLO's own parser and verifier accept.

Modules of StableHLO and functions are printed as MLIR does, and JAX with it.

What differs from xDSL's printer: names of values (`%0:2`, `%cst_0`), `module`, `return` and `call`
without their dialects, entries of dictionaries in the order of their names, and literals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from xla_dialect.op import XlaOp
from xla_dialect.sharding.attributes import MESHES
from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.stablehlo.attributes import StableHloPrintError, fail, is_index
from xla_dialect.stablehlo.legalize.from_xla import FromXla
from xla_dialect.stablehlo.legalize.patterns import FROM_XLA
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.reader import has_source_operations
from xla_dialect.xdsl.dense_literals import dense_text
from xla_dialect.xdsl.text import MlirPrinter

__all__ = ["StableHloPrintError", "StableHloPrinter", "print_stablehlo"]


def print_stablehlo(module: ModuleOp, *, debug_info: bool = False) -> str:
    """
    Prints a verified module of functions with operations of the dialect as StableHLO and CHLO.

    What StableHLO has no operation for is expanded where that is exact. Tuples are taken apart,
    but for those of custom calls. Layouts of the entry become `mhlo.layout_mode`, those of custom
    calls `operand_layouts` and `result_layouts`; all others are dropped. `debug_info` prints
    locations; for programs from HLO text these are their metadata.

    Raises StableHloPrintError, a `LocatedError`, for what StableHLO cannot express.

    >>> from xla_dialect.hlo_text import read_hlo
    >>> from xla_dialect.stablehlo.writing import print_stablehlo
    >>> module = read_hlo("ENTRY main { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }")
    >>> print(print_stablehlo(module).rstrip())
    module @module_main {
      func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %y = stablehlo.add %x, %x : tensor<2xf32>
        return %y : tensor<2xf32>
      }
    }
    """
    return StableHloPrinter(debug_info).text(stablehlo_module(module))


def stablehlo_module(module: ModuleOp) -> ModuleOp:
    """The module of StableHLO that `print_stablehlo` prints; the module itself if it is one."""
    return module if has_source_operations(module) else FromXla(FROM_XLA).module(module)


_DIALECTS = frozenset({"func", "sdy", "check", "interpreter"})
"""The dialects that StableHLO programs have operations of, beside those with `StableHloOp`."""


class StableHloPrinter(MlirPrinter):
    """Prints one module."""

    def __init__(self, debug_info: bool = False):
        super().__init__(StringIO())
        self.debug_info = debug_info
        self._texts: dict[int, tuple[Attribute, str]] = {}
        """By the identity of an attribute, which is held to keep it unique."""
        self._copies: dict[str, int] = {}
        self._taken: set[str] = set()
        self._arguments = 0

    def text(self, module: ModuleOp) -> str:
        """The text of a module."""
        self._print_module(module)
        return cast(StringIO, self.stream).getvalue()

    # Names

    def new_name(self, hint: str | None) -> str:
        """A new name: `%hint`, with a number if that is taken, or a number."""
        if hint is None:
            return f"%{self._get_new_valid_name_id()}"
        name = hint
        while name in self._taken:
            number = self._copies.get(hint, 0)
            self._copies[hint] = number + 1
            name = f"{hint}_{number}"
        self._taken.add(name)
        return f"%{name}"

    def argument_name(self, hint: str | None) -> str:
        """A new name for an argument of a block."""
        if hint is None:
            hint = f"arg{self._arguments}"
            self._arguments += 1
        return self.new_name(hint)

    def print_ssa_value(self, value: SSAValue) -> str:
        """Prints the name of a value; an argument of a block gets one here at the latest."""
        name = self._ssa_values.get(value)
        if name is None:
            is_argument = isinstance(value, BlockArgument)
            new = self.argument_name if is_argument else self.new_name
            name = self._ssa_values[value] = new(value.name_hint)
        self.print_string(name)
        return name

    def _print_results(self, op: Operation) -> None:
        """Names the results: `%0 = `, `%0:2 = `, or `%a, %b = ` where they have names."""
        results = op.results
        if not results:
            return
        hint = op.result_name() if isinstance(op, StableHloOp) else None
        hints = [value.name_hint or hint for value in results]
        names, head = self._heading(hints)
        self._ssa_values.update(zip(results, names, strict=True))
        self.print_string(head)

    def _heading(self, hints: Sequence[str | None]) -> tuple[list[str], str]:
        """The names of results, and how their operation begins."""
        count = len(hints)
        if count == 1:
            name = self.new_name(hints[0])
            return [name], f"{name} = "
        if None not in hints and len(set(hints)) > 1:
            names = [self.new_name(each) for each in hints]
            return names, f"{', '.join(names)} = "
        name = self.new_name(hints[0])
        return [f"{name}#{i}" for i in range(count)], f"{name}:{count} = "

    # Operations

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        """Prints a text as it is; nobody asks for columns."""
        cast(StringIO, self.stream).write(text)

    def print_op(self, op: Operation) -> None:
        """Prints an operation."""
        self._print_results(op)
        if isinstance(op, FuncOp):
            self._print_function(op)
        elif not isinstance(op, StableHloOp) and op.name.split(".")[0] not in _DIALECTS:
            fail(op, "it is no operation that StableHLO has")
        elif type(op).print is Operation.print or isinstance(op, XlaOp):
            # jaxlib has no dialects of checks, but takes their operations in generic form.
            self.print_string(f'"{op.name}"')
            self.print_op_with_default_format(op)
        else:
            in_function = isinstance(op.parent_op(), FuncOp)
            self.print_string(op.name.removeprefix("func.") if in_function else op.name)
            op.print(self)
        if self.debug_info:
            self.print_string(f" {op.location}")

    # Attributes

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute or a type."""
        match attribute:
            case StringAttr():
                self.print_string_literal(attribute.data)
            case HloShardingAttr():
                self.print_string_literal(attribute.data.text)
            case DictionaryAttr():
                self.print_attr_dict(attribute.data)
            case ArrayAttr():
                with self.in_square_brackets():
                    self.print_list(attribute.data, self._print_element)
            case DenseIntOrFPElementsAttr() if not is_index(attribute.get_type()):
                dense = cast("DenseIntOrFPElementsAttr[Any]", attribute)
                self.print_string(f"dense<{dense_text(dense, packs_flags=False)}> : {dense.type}")
            case _:
                known = self._texts.get(id(attribute))
                if known is None:
                    known = self._texts[id(attribute)] = attribute, str(attribute)
                self.print_string(known[1])

    def _print_element(self, value: Attribute) -> None:
        """Prints an element of a list: i64 is understood there."""
        number = cast("IntegerAttr[Any]", value)
        if isinstance(value, IntegerAttr) and number.type == i64:
            self.print_string(str(number.value.data))
        else:
            self.print_attribute(cast(Attribute, value))

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        """Prints entries in the order of their names, as MLIR has them."""
        super().print_attr_dict(dict(sorted(attr_dict.items())))

    def print_string_literal(self, string: str) -> None:
        """Prints a string in quotes, with the escapes of MLIR."""
        data = string.encode("utf-8", "surrogateescape")
        escaped = _UNPRINTABLE.sub(lambda match: b"\\%02X" % match.group()[0], data)
        self.print_string(f'"{escaped.decode("ascii")}"')

    # Modules and functions

    def _print_module(self, module: ModuleOp) -> None:
        self.print_string("module")
        if module.sym_name is not None:
            self.print_string(" ")
            self.print_symbol_name(module.sym_name.data)
        attributes = {n: value for n, value in module.attributes.items() if n != MESHES}
        self.print_op_attributes(attributes, print_keyword=True)
        self.print_string(" {")
        self.print_block(module.body.block, print_block_args=False)
        self.print_string("\n}\n")

    def _print_function(self, function: FuncOp) -> None:
        self.forget_names()
        type_, block = function.function_type, function.body.first_block
        visibility = function.sym_visibility
        self.print_string("func.func " if visibility is None else f"func.func {visibility.data} ")
        self.print_symbol_name(function.sym_name.data)
        names = () if block is None else block.args
        with self.in_parens():
            self._print_values(type_.inputs.data, function.arg_attrs, names)
        outputs = type_.outputs.data
        if outputs:
            self.print_string(" -> ")
            if len(outputs) == 1 and function.res_attrs is None:
                self.print_attribute(outputs[0])
            else:
                with self.in_parens():
                    self._print_values(outputs, function.res_attrs)
        self.print_op_attributes(function.attributes, print_keyword=True)
        if block is not None:
            self.print_string(" ")
            self.print_region(function.body, print_entry_block_args=False)

    def _print_values(
        self,
        types: Sequence[Attribute],
        attributes: ArrayAttr[DictionaryAttr] | None,
        names: Sequence[SSAValue] = (),
    ) -> None:
        """Prints the parameters or results of a function."""
        for i, type_ in enumerate(types):
            if i:
                self.print_string(", ")
            if names:
                self.print_ssa_value(names[i])
                self.print_string(": ")
            self.print_attribute(type_)
            if attributes is not None:
                self.print_op_attributes(attributes.data[i].data)

    def forget_names(self) -> None:
        """Each function has names of its own."""
        self._ssa_values.clear()
        self._copies.clear()
        self._taken.clear()
        self._next_valid_name_id[-1] = self._arguments = 0


_UNPRINTABLE = re.compile(rb'[^ -~]|["\\]')
