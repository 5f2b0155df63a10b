"""Which functions outside of it a program in StableHLO calls."""

from __future__ import annotations

import re

from lowerings.execution.lapack_functions import LAPACK
from xla_dialect.runtime.custom_calls import built_in_function

_CALL = re.compile(r'custom_call @(?:"([^"]+)"|([\w.$-]+))\(')


def outside_targets(text: str) -> set[str]:
    """The targets of the custom calls in a program, but for those that this toolkit has itself."""
    called = {quoted or plain for quoted, plain in _CALL.findall(text)}
    return {target for target in called if not (target in LAPACK or built_in_function(target))}
