"""The `xla` dialect as xDSL registers it."""

from __future__ import annotations

from xdsl.ir import Dialect

from xla_dialect.attributes import ENUM_ATTRIBUTES
from xla_dialect.devices.replica_groups import ReplicaGroupsAttr, SourceTargetPairsAttr
from xla_dialect.layout import LayoutAttr
from xla_dialect.ops import OPERATIONS
from xla_dialect.shapes.convolution_labels import ConvolutionLabelsAttr
from xla_dialect.shapes.window import WindowAttr
from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.types import BufferType, OpaqueType, TokenType

XLA = Dialect(
    "xla",
    list(OPERATIONS),
    [
        LayoutAttr,
        TokenType,
        OpaqueType,
        BufferType,
        WindowAttr,
        ConvolutionLabelsAttr,
        ReplicaGroupsAttr,
        SourceTargetPairsAttr,
        HloShardingAttr,
        *ENUM_ATTRIBUTES,
    ],
)
