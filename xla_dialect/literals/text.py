"""What the text formats spell alike in literals."""

from __future__ import annotations

import numpy as np

from xla_dialect.types import ElementClass, ElementType


def integer_texts(data: bytes, element: ElementType) -> list[str]:
    """Integers as they lie in memory, in decimal: alike in HLO text and in MLIR."""
    kind = "u" if element.element_class is ElementClass.UNSIGNED else "i"
    numbers = np.frombuffer(data, f"{kind}{max(element.bits // 8, 1)}")
    return list(map(str, numbers.tolist()))
