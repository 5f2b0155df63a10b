"""Operations as bytecode has them become operations of a context, those of VHLO StableHLO's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnregisteredOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.rewriter import Rewriter

from xla_dialect.binary.operations import FUNCTION, IllegalOperation, VhloOp, revised
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.text import MlirParser


class Operations:
    """Makes operations."""

    def __init__(self, context: Context):
        self.context = context
        self._classes: dict[str, type[Operation] | None] = {}
        self._attributes: dict[str, Attribute] = {}

    def attribute(self, text: str) -> Attribute:
        """The attribute or type with a text; raises ParseError."""
        found = self._attributes.get(text)
        if found is None:
            found = MlirParser(self.context, text).parse_attribute()
            self._attributes[text] = found
        return found

    def class_of(self, name: str) -> type[Operation] | None:
        """The class of an operation, if there is one."""
        if name not in self._classes:
            self._classes[name] = self.context.get_optional_op(name)
        return self._classes[name]

    def __call__(
        self,
        name: str,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
        regions: Sequence[Region],
    ) -> Operation:
        """An operation of the context; raises IllegalOperation."""
        found = revised(name)
        if found is not None:
            base, row, revision = found
            values = {**attributes, **properties}
            if base == "func":
                return self.function(values, regions)
            name = _OTHER_NAMES.get(base, f"stablehlo.{base}")
            properties = self.upgraded(row, revision, values)
            attributes = values
        operation = self.class_of(name)
        if operation is None:
            raise IllegalOperation("this operation is not supported")
        if attributes and not properties and issubclass(operation, IRDLOperation):
            # Before version 5 of bytecode, there are no properties.
            declared = operation.get_irdl_definition().properties
            properties = {each: attributes[each] for each in attributes if each in declared}
            attributes = {each: attributes[each] for each in attributes if each not in declared}
        if issubclass(operation, UnregisteredOp):
            attributes = {**attributes, "op_name__": StringAttr(name)}
        return create(
            operation,
            operands=operands,
            result_types=types,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )

    def upgraded(
        self, row: VhloOp, revision: int, values: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """The properties of an operation in StableHLO, taken from what VHLO has."""
        properties: dict[str, Attribute] = {}
        for part in row.parts:
            parts: list[Attribute] = []
            for name in part.names:
                value = values.pop(name, None)
                if value is None:
                    if name not in part.newer or revision == row.revision:
                        raise IllegalOperation(f"{name} is missing")
                    newer = part.newer[name]
                    value = self.attribute(newer) if isinstance(newer, str) else newer
                parts.append(value)
            found = part.read(parts)
            if found is not None:
                properties[part.native] = self.attribute(found) if isinstance(found, str) else found
        for name in row.former:
            values.pop(name, None)
        return properties

    def function(self, values: dict[str, Attribute], regions: Sequence[Region]) -> Operation:
        """A function; what it returns is returned by an operation of the same dialect."""
        properties = {name: values.pop(name) for name in FUNCTION if name in values}
        for name in ("arg_attrs", "res_attrs"):
            if properties.get(name) == ArrayAttr(()):
                del properties[name]
        if properties.get("sym_visibility") == StringAttr(""):
            del properties["sym_visibility"]
        for region in regions:
            for block in region.blocks:
                last = block.last_op
                if last is not None and last.name == "stablehlo.return":
                    end = ReturnOp(*last.operands)
                    end.location = last.location
                    Rewriter.replace_op(last, end)
        return create(FuncOp, properties=properties, attributes=values, regions=regions)


_OTHER_NAMES = {"call": "func.call"}
