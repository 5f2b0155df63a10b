"""How each value of a function is spread, as attributes say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import OpResult, SSAValue

from lowerings.partitioning.local_rules import static_sizes
from lowerings.partitioning.mesh_atoms import MeshAtoms
from lowerings.partitioning.reshard_steps import Spread
from xla_dialect.op import XlaOp
from xla_dialect.sharding.attributes import (
    SHARDING,
    parameter_shardings,
    result_shardings,
    set_function_shardings,
)
from xla_dialect.xdsl.traversal import operations_in


def forget_shardings(module: ModuleOp, mesh: MeshAtoms) -> None:
    """Every device has all of what a program takes and returns; of the rest nothing is said."""
    for op in operations_in(module):
        op.attributes.pop(SHARDING, None)
        if isinstance(op, FuncOp):
            sides = (op.function_type.inputs.data, op.function_type.outputs.data)
            whole = [
                [mesh.sharding(Spread(((),) * len(static_sizes(type_) or ()))) for type_ in types]
                for types in sides
            ]
            set_function_shardings(op, *whole)


def rank_of(value: SSAValue) -> int:
    """The rank of an array, 0 for what is none."""
    return len(static_sizes(value.type) or ())


@dataclass(eq=False)
class ValueShardings:
    """The spreads of the values of a function; whole where nothing is said."""

    mesh: MeshAtoms
    parameters: dict[SSAValue, Spread]
    """What is known of parameters, and has been found out of results."""

    @staticmethod
    def of(function: FuncOp, mesh: MeshAtoms) -> ValueShardings:
        """Parameters of computations have the shardings of their data-flow edges."""
        found = ValueShardings(mesh, {})
        arguments = function.body.block.args
        for argument, sharding in zip(arguments, parameter_shardings(function), strict=True):
            found.parameters[argument] = mesh.spread(sharding, rank_of(argument))
        for op in operations_in(function):
            if isinstance(op, XlaOp) and op.forwards_values():
                for edge in op.data_flow_edges():
                    source = edge.result if edge.result is not None else edge.sources[0].value
                    for parameter in edge.parameters:
                        found.parameters[parameter] = found.spread(source)
        return found

    def spread(self, value: SSAValue) -> Spread:
        """How a value is spread."""
        found = self.parameters.get(value)
        if found is None:
            shardings = result_shardings(value.op) if isinstance(value, OpResult) else None
            sharding = None if shardings is None else shardings[cast(OpResult, value).index]
            found = self.parameters[value] = self.mesh.spread(sharding, rank_of(value))
        return found
