"""How HLO is computed: passes from level to level, targets, and execution.

`lowerings.compile(text_or_path)` is the way in; see `lowerings.compilation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowerings.compilation import compile

__all__ = ["compile"]


def __getattr__(name: str) -> Any:
    """Loads the compiler when it is first asked for: tools that only read start quickly."""
    if name == "compile":
        from lowerings.compilation import compile  # noqa: PLC0415

        return compile
    raise AttributeError(f"module 'lowerings' has no attribute '{name}'")
