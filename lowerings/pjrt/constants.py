"""Large constants of programs, taken from jaxlib as bytes: as text they are three times as long."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from lowerings.pjrt.interfaces import IR

LEAST_BYTES = 1 << 16
"""Of a constant that is worth a name of its own."""


def take_constants(module: Any) -> dict[str, bytes]:
    """
    Writes names in the place of large constants of a module of jaxlib; returns what is under them.

    A name is the hash of its bytes, so that the text tells the program. What jaxlib has no array
    for stays: complex numbers, and floats of 8 or 16 bits but for f16; so do those of fewer bits,
    which MLIR packs in bytes.
    """
    found: dict[str, bytes] = {}
    named: dict[tuple[str, str], Any] = {}

    def take(op: Any) -> Any:
        elements = _elements(op) if op.name == "stablehlo.constant" else None
        if elements is not None and elements.nbytes >= LEAST_BYTES:
            data = elements.tobytes()
            key = hashlib.sha256(data).hexdigest(), str(op.results[0].type)
            if key not in named:
                named[key] = IR.Attribute.parse(f"dense_resource<constant_{key[0]}> : {key[1]}")
                name = str(named[key]).partition("<")[2].partition(">")[0]
                found[name] = data
            op.attributes["value"] = named[key]
        return IR.WalkResult.ADVANCE

    module.operation.walk(take)
    return found


def _elements(op: Any) -> Any:
    """
    The elements of a constant, without a copy; None where jaxlib has no array, or one value, and
    where they have a name already.
    """
    try:
        value = op.attributes["value"]
        if not isinstance(value, IR.DenseElementsAttr):
            return None
        elements = None if value.is_splat else np.asarray(value)
    except TypeError:
        return None
    return None if elements is None or elements.dtype == np.bool_ else elements


def with_constants(text: str, constants: Mapping[str, bytes]) -> str:
    """The text with the constants in the place of their names."""
    for name, data in constants.items():
        text = text.replace(f"dense_resource<{name}>", f'dense<"0x{data.hex()}">')
    return text
