"""Meshes and shardings as attributes, and where modules and operations have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_attr_definition

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.sharding.sharding_rule import ShardingRuleAttr
from xla_dialect.sharding.tokens import Tokens

MESHES = "sdy.meshes"
"""The attribute of a module with its meshes by name: the symbols that shardings refer to."""
SHARDING = "sdy.sharding"
"""The attribute of an operation, or of a parameter or result of a function."""
SHARDING_RULE = "sdy.sharding_rule"
"""The attribute of an operation with a rule of its own."""
RESHARD = "sdy.reshard"
"""The attribute of a copy that is a reshard: the collective that it is, or nothing yet."""


@irdl_attr_definition
class MeshAttr(SpelledAttribute[Mesh]):
    """`#xla.mesh<["x"=4, "y"=2]>`"""

    name = "xla.mesh"

    @classmethod
    def read(cls, text: str) -> Mesh:
        """The mesh that a text stands for."""
        tokens = Tokens(text)
        mesh = Mesh.parse_content(tokens)
        tokens.finish()
        return mesh


@irdl_attr_definition
class ShardingAttr(SpelledAttribute[Sharding]):
    """`#xla.sharding<@mesh, [{"x"}, {?}]>`"""

    name = "xla.sharding"

    @classmethod
    def read(cls, text: str) -> Sharding:
        """The sharding that a text stands for."""
        tokens = Tokens(text)
        sharding = Sharding.parse_content(tokens)
        tokens.finish()
        return sharding


class Shardings(tuple[Sharding, ...]):
    """The shardings of all results of an operation, in order."""

    def __str__(self) -> str:
        return "[" + ", ".join(f"<{sharding}>" for sharding in self) + "]"


@irdl_attr_definition
class ShardingPerValueAttr(SpelledAttribute[Shardings]):
    """`#xla.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>`"""

    name = "xla.sharding_per_value"

    @classmethod
    def read(cls, text: str) -> Shardings:
        """The shardings that a text stands for."""
        tokens = Tokens(text)
        shardings = Shardings(Sharding.parse_list(tokens))
        tokens.finish()
        return shardings


ATTRIBUTES: tuple[type[Attribute], ...] = (
    MeshAttr,
    ShardingAttr,
    ShardingPerValueAttr,
    HloShardingAttr,
    ShardingRuleAttr,
)
"""What the dialect registers."""


def meshes_of(module: Operation) -> dict[str, Mesh]:
    """The meshes of a module by name."""
    found = module.attributes.get(MESHES)
    if not isinstance(found, DictionaryAttr):
        return {}
    return {name: mesh.data for name, mesh in found.data.items() if isinstance(mesh, MeshAttr)}


def sharding_fault(sharding: Sharding, type_: Attribute, meshes: Mapping[str, Mesh]) -> str | None:
    """What is wrong with a sharding of a value of this type; None if nothing."""
    mesh = sharding.mesh_in(meshes)
    if mesh is None:
        return f"(SH2) there is no mesh @{sharding.mesh}"
    if isinstance(type_, TensorType):
        return sharding.fault(mesh, len(type_.shape.data))
    is_bare = next(sharding.used_axes, None) is None and not sharding.dimensions
    return None if is_bare else f"(SH7) {type_} has no dimensions"


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


def shardy_text(value: Attribute) -> str:
    """How Shardy writes one of these attributes; the text of any other."""
    if not isinstance(value, ATTRIBUTES):
        return str(value)
    name = "sdy.op_sharding_rule" if isinstance(value, ShardingRuleAttr) else value.name
    return f"#{name.replace('xla.', 'sdy.')}{str(value).removeprefix(f'#{value.name}')}"
