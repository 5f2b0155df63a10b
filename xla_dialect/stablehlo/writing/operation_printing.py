# pyright: reportPrivateUsage=false
"""Operations as their classes print them, in a text whose other operations are written as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import StringIO
from typing import Any, Protocol

from xdsl.ir import Attribute, Operation, Region, SSAValue, TypeAttribute

from xla_dialect.stablehlo.attribute_text import (
    attribute_text,
    dictionary_text,
    kept_texts,
)
from xla_dialect.xdsl.text import MlirPrinter


class SurroundingText(Protocol):
    """What the text around an operation says: names of values, regions."""

    trees: dict[SSAValue, Any]

    def type_text(self, type_: Attribute, /) -> str: ...

    def value_name(self, value: SSAValue) -> str: ...

    def region_text(self, region: Region, has_label: bool) -> str: ...

    def new_line(self) -> str: ...


class OperationPrinter(MlirPrinter):
    """Prints single operations, with names of values and types as the text around has them."""

    def __init__(self, body: SurroundingText):
        super().__init__()
        self._body = body
        self._ssa_values = body.trees

    def text(self, op: Operation) -> str:
        """An operation, without its results."""
        outer = self.stream
        self.stream = stream = StringIO()
        if type(op).print is Operation.print:
            stream.write(f'"{op.name}"')
            self.print_op_with_default_format(op)
        else:
            stream.write(op.name)
            op.print(self)
        self.stream = outer
        return stream.getvalue()

    def print_ssa_value(self, value: SSAValue) -> str:
        """Prints the name that a value has, or gets."""
        name = self._body.value_name(value)
        self.print_string(name)
        return name

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute, or a type as StableHLO has it."""
        if isinstance(attribute, TypeAttribute):
            self.print_string(self._body.type_text(attribute))
        else:
            super().print_attribute(attribute)

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        """Prints a region."""
        self.print_string(self._body.region_text(region, print_entry_block_args))

    def _print_op_properties(self, properties: Mapping[str, Attribute]) -> None:
        if properties:
            texts = {name: attribute_text(value) for name, value in properties.items()}
            self.print_string(f" <{dictionary_text(texts)}>")

    def print_op_attributes(
        self,
        attributes: Mapping[str, Attribute],
        *,
        reserved_attr_names: Iterable[str] = (),
        print_keyword: bool = False,
    ) -> bool:
        """Prints the attributes in the order of their names."""
        texts = kept_texts(attributes) if attributes else {}
        if texts:
            self.print_string(f"{' attributes' * print_keyword} {dictionary_text(texts)}")
        return bool(texts)

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        self.print_string(self._body.new_line())
