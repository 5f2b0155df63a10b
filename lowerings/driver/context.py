"""The xDSL context of the toolkit: every dialect a level can hold."""

from __future__ import annotations

from xdsl.context import Context

from lowerings.universe import toolkit_universe


def make_context() -> Context:
    """A context with every dialect that xDSL, we and installed packages offer, loaded on use."""
    ctx = Context()
    for name, factory in toolkit_universe().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx
