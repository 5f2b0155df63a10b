"""Meshes and shardings as attributes, and where modules and operations have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import (
    Attribute,
    BlockArgument,
    OpaqueSyntaxAttribute,
    Operation,
    OpResult,
    SSAValue,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding, Shardings
from xla_dialect.sharding.mesh import (
    AxisList,
    AxisLists,
    AxisMove,
    AxisMoves,
    AxisReference,
    ManualAxes,
    Mesh,
)
from xla_dialect.sharding.sharding_rule import ShardingRule
from xla_dialect.spelling import SpellingError, Tokens
from xla_dialect.violations import Violation, require
from xla_dialect.xdsl.text import alias_of

MESHES = "sdy.meshes"
"""The attribute of a module with its meshes by name: the symbols that shardings refer to."""
SHARDING = "sdy.sharding"
"""The attribute of an operation, or of a parameter or result of a function."""
SHARDING_RULE = "sdy.sharding_rule"
"""The attribute of an operation with a rule of its own."""
RESHARD = "sdy.reshard"
"""The attribute of a copy that is a reshard: the collective that it is, or nothing yet."""

_Content = TypeVar("_Content", covariant=True)


class TokensAttribute(SpelledAttribute[_Content]):
    """An attribute that parses from tokens; most have angle brackets of their own."""

    content: ClassVar[type[Any]]
    """The class of the content, if that has `parse`."""

    @classmethod
    def parse(cls, tokens: Tokens) -> _Content:
        """Reads what follows the name; raises SpellingError."""
        return cls.content.parse(tokens)

    @classmethod
    def parse_element(cls, tokens: Tokens) -> _Content:
        """Reads one where the name may be left out; raises SpellingError."""
        return tokens.content(cls.name, cls.parse)

    @classmethod
    def read(cls, text: str) -> _Content:
        """The content that a whole text stands for, as in MLIR: the name may be left out."""
        tokens = Tokens(text)
        found = cls.parse_element(tokens)
        tokens.finish()
        return found

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _Content:
        """Reads what follows the name."""
        return cls.parse_by(parser, cls.parse)

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> Self:
        """Reads the attribute where nothing else may stand: the name may be left out."""
        return cls(cls.parse_by(parser, cls.parse_element))

    def print_bare(self, printer: Printer) -> None:
        """Prints what `parse_bare` reads."""
        self.print_parameter(printer)

    @classmethod
    def parse_by(cls, parser: AttrParser, parse: Callable[[Tokens], _Content]) -> _Content:
        """Reads the content with a function, from where a parser is."""
        tokens = Tokens(parser.lexer.input.content, parser.pos, lambda name: alias_of(parser, name))
        try:
            content = parse(tokens)
        except SpellingError as error:
            parser.raise_error(f"{cls.name}: {error}", error.position, error.position + 1)
        parser._resume_from(tokens.position)  # pyright: ignore[reportPrivateUsage]
        return content


class _OpaqueAttribute(TokensAttribute[_Content], OpaqueSyntaxAttribute):
    """One without angle brackets of its own: `#sdy<manual_axes{"x"}>`."""

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` reads."""
        printer.print_string(str(self.data))


@irdl_attr_definition
class MeshAttr(TokensAttribute[Mesh]):
    """`#sdy.mesh<["x"=4, "y"=2]>`"""

    name = "sdy.mesh"
    content = Mesh


@irdl_attr_definition
class ShardingAttr(TokensAttribute[Sharding]):
    """`#sdy.sharding<@mesh, [{"x"}, {?}]>`"""

    name = "sdy.sharding"
    content = Sharding


@irdl_attr_definition
class ShardingPerValueAttr(TokensAttribute[Shardings]):
    """`#sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>`"""

    name = "sdy.sharding_per_value"
    content = Shardings

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> Self:
        """Reads the list without angle brackets, as custom forms have it."""
        return cls(cls.parse_by(parser, Shardings.parse_list))

    def print_bare(self, printer: Printer) -> None:
        """Prints what `parse_bare` reads."""
        printer.print_string(str(self.data))


@irdl_attr_definition
class ShardingRuleAttr(TokensAttribute[ShardingRule]):
    """`#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>`"""

    name = "sdy.op_sharding_rule"
    content = ShardingRule


@irdl_attr_definition
class AxisReferenceAttr(_OpaqueAttribute[AxisReference]):
    """`#sdy<axis_ref"x":(1)2>`"""

    name = "sdy.axis_ref"
    content = AxisReference


@irdl_attr_definition
class DimensionShardingAttr(_OpaqueAttribute[DimensionSharding]):
    """`#sdy<dimension_sharding{"x", ?}p1>`"""

    name = "sdy.dimension_sharding"
    content = DimensionSharding


@irdl_attr_definition
class AxisListAttr(_OpaqueAttribute[AxisList]):
    """`#sdy<axis_ref_list{"x", "y":(1)2}>`"""

    name = "sdy.axis_ref_list"
    content = AxisList


@irdl_attr_definition
class AxisListsAttr(_OpaqueAttribute[AxisLists]):
    """`#sdy<list_of_axis_ref_lists[{"x"}, {}]>`"""

    name = "sdy.list_of_axis_ref_lists"
    content = AxisLists


@irdl_attr_definition
class AxisMoveAttr(_OpaqueAttribute[AxisMove]):
    """`#sdy<all_to_all_param{"x"}: 0->1>`"""

    name = "sdy.all_to_all_param"
    content = AxisMove


@irdl_attr_definition
class AxisMovesAttr(_OpaqueAttribute[AxisMoves]):
    """`#sdy<all_to_all_param_list[{"x"}: 0->1]>`"""

    name = "sdy.all_to_all_param_list"
    content = AxisMoves


@irdl_attr_definition
class ManualAxesAttr(_OpaqueAttribute[ManualAxes]):
    """`#sdy<manual_axes{"x", "y"}>`"""

    name = "sdy.manual_axes"
    content = ManualAxes


ATTRIBUTES: tuple[type[Attribute], ...] = (
    MeshAttr,
    ShardingAttr,
    ShardingPerValueAttr,
    ShardingRuleAttr,
    AxisReferenceAttr,
    DimensionShardingAttr,
    AxisListAttr,
    AxisListsAttr,
    AxisMoveAttr,
    AxisMovesAttr,
    ManualAxesAttr,
)
"""Those of the `sdy` dialect."""


def meshes_of(module: Operation) -> dict[str, Mesh]:
    """The meshes of a module by name."""
    found = module.attributes.get(MESHES)
    if not isinstance(found, DictionaryAttr):
        return {}
    return {name: mesh.data for name, mesh in found.data.items() if isinstance(mesh, MeshAttr)}


Meshes = Mapping[str, Mesh]
"""Meshes by their names."""
MESH = "sdy.mesh"
"""The operation that is a mesh of a module."""


def meshes_around(op: Operation) -> dict[str, Mesh]:
    """The meshes that operations are in the module that an operation is in."""
    around = op.parent_op()
    while around is not None and not isinstance(around, ModuleOp):
        around = around.parent_op()
    found = () if around is None else (each for each in around.ops if each.name == MESH)
    return {
        cast(StringAttr, each.properties["sym_name"]).data: mesh.data
        for each in found
        if isinstance(mesh := each.properties["mesh"], MeshAttr)
    }


def meshes_in_text(text: str) -> dict[str, Mesh]:
    """The meshes that HLO text lists, `{name = #sdy.mesh<...>, ...}`; raises SpellingError."""
    return {name: MeshAttr.read(mesh) for name, mesh in _NAMED_MESH.findall(text)}


_NAMED_MESH = re.compile(r"([\w.$-]+) = (#sdy\.mesh<[^>]*>)")


def check_sharding(
    what: str, sharding: Sharding, type_: Attribute, meshes: Mapping[str, Mesh]
) -> None:
    """A sharding is one of a value of this type; raises VerifyException, with `what` it is."""
    try:
        mesh = sharding.mesh_in(meshes)
        if mesh is None:
            raise Violation("SH2", f"there is no mesh @{sharding.mesh}")
        if isinstance(type_, TensorType):
            sharding.check(mesh, len(type_.shape.data))
        else:
            require(sharding.is_bare, "SH7", "{} has no dimensions", type_)
    except Violation as error:
        raise VerifyException(f"{what} <{sharding}>: {error}") from None


def set_meshes(module: Operation, meshes: Mapping[str, Mesh]) -> None:
    """Gives a module its meshes; none: takes them away."""
    if meshes:
        entries = {name: MeshAttr(mesh) for name, mesh in meshes.items()}
        module.attributes[MESHES] = DictionaryAttr(entries)
    else:
        module.attributes.pop(MESHES, None)


def result_shardings(op: Operation) -> Sequence[Sharding] | None:
    """The shardings of the results of an operation; None where it says nothing."""
    match op.attributes.get(SHARDING):
        case ShardingPerValueAttr() as found:
            return found.data
        case _:
            return None


def set_result_shardings(op: Operation, shardings: Sequence[Sharding]) -> None:
    """Gives an operation the shardings of its results."""
    op.attributes[SHARDING] = ShardingPerValueAttr(Shardings(shardings))


def parameter_shardings(function: FuncOp) -> list[Sharding | None]:
    """The shardings of the parameters of a function; None where nothing is said."""
    return _of_values(function.arg_attrs, len(function.function_type.inputs))


def returned_shardings(function: FuncOp) -> list[Sharding | None]:
    """The shardings of the results of a function; None where nothing is said."""
    return _of_values(function.res_attrs, len(function.function_type.outputs))


def _of_values(found: ArrayAttr[DictionaryAttr] | None, count: int) -> list[Sharding | None]:
    if found is None:
        return [None] * count
    values = (entry.data.get(SHARDING) for entry in found.data)
    return [value.data if isinstance(value, ShardingAttr) else None for value in values]


def value_sharding(value: SSAValue) -> Sharding | None:
    """The sharding of a result of an operation or a parameter of a function; None: says none."""
    if isinstance(value, OpResult):
        found = result_shardings(value.op)
    else:
        owner = value.owner.parent_op()
        found = parameter_shardings(owner) if isinstance(owner, FuncOp) else None
    return None if found is None else found[cast("OpResult | BlockArgument", value).index]


def set_function_shardings(
    function: FuncOp,
    parameters: Sequence[Sharding | None] | None = None,
    returned: Sequence[Sharding | None] | None = None,
) -> None:
    """Gives a function the shardings of its parameters, its results, or both; None: says none."""
    if parameters is not None:
        function.arg_attrs = _with_shardings(function.arg_attrs, parameters)
    if returned is not None:
        function.res_attrs = _with_shardings(function.res_attrs, returned)


def _with_shardings(
    old: ArrayAttr[DictionaryAttr] | None, shardings: Sequence[Sharding | None]
) -> ArrayAttr[DictionaryAttr] | None:
    entries: list[dict[str, Attribute]] = (
        [dict(entry.data) for entry in old.data] if old else [{} for _ in shardings]
    )
    for entry, sharding in zip(entries, shardings, strict=True):
        entry.pop(SHARDING, None)
        if sharding is not None:
            entry[SHARDING] = cast(Attribute, ShardingAttr(sharding))
    return ArrayAttr(map(DictionaryAttr, entries)) if any(entries) else None
