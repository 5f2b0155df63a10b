"""How HLO is computed: passes from level to level, targets, and execution.

`lowerings.compile(program)` is the way in, see `lowerings.compilation`; `lowerings.explain`
shows what becomes of a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowerings.compilation import compile
    from lowerings.explaining import explain

__all__ = ["compile", "explain"]


def __dir__() -> list[str]:
    """What there is, loaded or not."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Loads the compiler when it is first asked for: tools that only read start quickly."""
    from lowerings.driver.collector import loading  # noqa: PLC0415

    if name == "compile":
        with loading():
            from lowerings.compilation import compile  # noqa: PLC0415

        return compile
    if name == "explain":
        with loading():
            from lowerings.explaining import explain  # noqa: PLC0415

        return explain
    raise AttributeError(f"module 'lowerings' has no attribute '{name}'")
