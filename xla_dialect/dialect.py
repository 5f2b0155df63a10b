"""The `xla` dialect as xDSL registers it."""

from __future__ import annotations

from xdsl.ir import Dialect

import xla_dialect.xdsl_workarounds as _applied_on_import  # noqa: F401
from xla_dialect.attributes import ENUM_ATTRIBUTES
from xla_dialect.layout import LayoutAttr
from xla_dialect.ops import OPERATIONS
from xla_dialect.types import TokenType

XLA = Dialect("xla", list(OPERATIONS), [LayoutAttr, TokenType, *ENUM_ATTRIBUTES])
