"""Calls of functions that the program does not contain."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)

from xla_dialect.attributes import FALSE, FLAG, CustomCallApiVersionAttr
from xla_dialect.op import Types, XlaOp
from xla_dialect.violations import require

LAYOUT_CONSTRAINT = "LayoutConstraint"
"""The target of calls that return their operand, in the layout of the result."""

SHARDING_CONSTRAINT = "Sharding"
"""The target of calls that say how their operand is to be split over devices."""
FUNCTION_RESULT_SHARDING = "xla.sdy.FuncResultSharding"
"""The target of calls that say how a result of the program is to be split."""
SHARDING_GROUP = "xla.sdy.ShardingGroup"
"""The target of calls without a result that put their operand into a group of `GROUP_ID`: all
arrays of a group are split alike."""
GROUP_ID = "xla.sdy.sharding_group_id"
PROPAGATION_BARRIER = "xla.sdy.PropagationBarrier"
"""The target of calls past which shardings are carried in `ALLOWED_DIRECTION` only."""
ALLOWED_DIRECTION = "xla.sdy.allowed_direction"

GLOBAL_TO_LOCAL = "xla.sdy.GlobalToLocalShape"
"""The target of calls from whole arrays to the parts of this device, along manual axes."""
LOCAL_TO_GLOBAL = "xla.sdy.LocalToGlobalShape"
"""The target of calls from the parts of this device to whole arrays."""

FULL_TO_SHARD = "SPMDFullToShardShape"
"""The same of GSPMD, which says by tiles of devices what is whole and what is a part."""
SHARD_TO_FULL = "SPMDShardToFullShape"
"""Back."""

CALLBACK = "xla_ffi_python_cpu_callback"
"""The target of calls of JAX that call a function of Python."""
PARTITIONED_CALLBACK = "xla_ffi_partitioned_python_cpu_callback"
"""The target of those that each device makes, with whatever part of the operands it has."""

ANNOTATIONS = frozenset(
    {
        *(LAYOUT_CONSTRAINT, "MoveToDevice", "MoveToHost", "annotate_device_placement"),
        *(SHARDING_CONSTRAINT, FUNCTION_RESULT_SHARDING, PROPAGATION_BARRIER),
    }
)
"""Targets that annotate a value for a compiler, and return it."""


@irdl_op_definition
class CustomCallOp(XlaOp):
    """
    The results of the external function `custom_call_target` on the operands.

    No pass looks into it. The reference has a registry of functions; a target that is not in it is
    an error.

    (C1) the target is not empty.
    """

    name = "xla.custom_call"
    UNRELATED: ClassVar = "nobody knows what it computes"
    inputs = var_operand_def()
    custom_call_target = prop_def(StringAttr)
    custom_call_has_side_effect = prop_def(FLAG, default_value=FALSE)
    api_version = opt_prop_def(CustomCallApiVersionAttr)
    outputs = var_result_def()
    called_computations = var_region_def()

    @staticmethod
    def infer(inputs: tuple[Attribute, ...], *, custom_call_target: str, declared: Types) -> Types:
        """The declared types."""
        require(bool(custom_call_target), "C1", "the target is empty")
        return declared
