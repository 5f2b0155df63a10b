"""The xDSL context of the toolkit: every dialect a level can hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.context import Context
from xdsl.ir import Dialect

from lowerings.driver.loading import quick_loading
from lowerings.universe import toolkit_universe


def make_context() -> Context:
    """A context with every dialect that xDSL, we and installed packages offer, loaded on use."""
    ctx = Context()
    for name, factory in toolkit_universe().all_dialects.items():
        ctx.register_dialect(name, partial(_loaded, factory))
    return ctx


def _loaded(factory: Callable[[], Dialect]) -> Dialect:
    with quick_loading():
        return factory()
