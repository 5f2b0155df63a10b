"""`lowerings.explain`: a program at all its levels, as a page that a notebook shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from lowerings.driver import InputFormat
from lowerings.driver.source import Source
from xla_dialect.diagnostics import XlaError
from xla_dialect.extensions import EXPLORER, extensions, failures

DEFAULT_PIPELINE = "native"


@dataclass(frozen=True, repr=False)
class Explanation:
    """The page of the explorer about a program; a notebook shows it in a frame."""

    html: str
    """The page: it needs no other file, and no network."""
    height: int = 720
    """Of its frame in a notebook, in pixels."""

    def save(self, path: str | Path) -> None:
        """Writes the page to a file; raises OSError."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Explanation: a page of {len(self.html):,} characters; save(FILE) writes it>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #ccc"></iframe>'
        )


def explain(
    program: Callable[..., Any] | str | Path | ModuleOp,
    *args: Any,
    pipeline: str = DEFAULT_PIPELINE,
    input_format: InputFormat | None = None,
    **kwargs: Any,
) -> Explanation:
    """
    The page of `xla-opt --explore` about a program.

    `program` is a function that JAX can lower for `args` and `kwargs` (arrays, or shapes in their
    place); or, without arguments, whatever `lowerings.compile` takes. `pipeline` names the passes.
    Raises XlaError for a program that cannot be read, and for a pass that fails.

    >>> import lowerings
    >>> page = lowerings.explain("ENTRY main { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }")
    >>> page.save("double.html")
    """
    if callable(program):
        source = _source_of_function(program, args, kwargs)
    elif args or kwargs:
        raise XlaError("explain: only functions take arguments")
    else:
        source = Source.of(program, input_format)
    explorers = extensions(EXPLORER)
    if not explorers:
        raise XlaError(f"explain: no package is installed that writes pages{failures(EXPLORER)}")
    return Explanation(explorers[0](source, pipeline))


def _source_of_function(function: Callable[..., Any], args: Any, kwargs: Any) -> Source:
    """The StableHLO of a function, with the places in Python that its operations are from."""
    from lowerings.jax import Jitted, jit  # noqa: PLC0415

    jitted: Any = function if isinstance(function, Jitted) else jit(function)
    lowered = jitted.lower(*args, **kwargs)
    return Source(lowered.located_stablehlo, f"jit({lowered.name})", "stablehlo")
