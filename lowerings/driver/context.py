"""The xDSL context of the toolkit: every dialect a level can hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.universe import Universe

from lowerings.driver.collector import loading
from lowerings.universe import OWN, toolkit_universe

if TYPE_CHECKING:
    from _collections_abc import dict_keys

_Factory: TypeAlias = Callable[[], Dialect]


def make_context() -> Context:
    """A context with the dialects of xDSL, this toolkit and installed packages, loaded on use."""
    return Context(_registered_dialects=_Dialects(_quickly_loaded(OWN)))


class _Dialects(dict[str, _Factory]):
    """Dialects by name; those of installed packages join ours when one is asked for by name."""

    _is_complete = False

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or super(_Dialects, self._completed()).__contains__(name)

    def keys(self) -> dict_keys[str, _Factory]:
        return super(_Dialects, self._completed()).keys()

    def copy(self) -> _Dialects:
        return _Dialects(self._completed())

    def _completed(self) -> _Dialects:
        if not self._is_complete:
            self._is_complete = True
            self.update(_quickly_loaded(toolkit_universe()))
        return self


def _quickly_loaded(universe: Universe) -> dict[str, _Factory]:
    return {name: partial(_loaded, make) for name, make in universe.all_dialects.items()}


def _loaded(factory: _Factory) -> Dialect:
    with loading():
        return factory()
