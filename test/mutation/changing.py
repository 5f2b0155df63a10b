"""Putting one mutation into the passes, in a process that is there for it alone."""

import functools
import gc
import importlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, FunctionType, ModuleType
from typing import Any

from mutation.operators import all_mutations, changed, modules, source_of

_FUNCTIONS: dict[str, list[FunctionType]] = defaultdict(list)
"""The functions that were there when `load` ended, by the file of their source."""
_CACHES: list[Any] = []
"""What remembers results of functions."""


class ChangedModule(MetaPathFinder, Loader):
    """Loads one module from its source with one change."""

    def __init__(self, module: str, number: int):
        self._module = module
        self._number = number

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        return ModuleSpec(fullname, self, origin=spec.origin)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(source_of(self._module))
        exec(_code(self._module, self._number), module.__dict__)


def _code(module: str, number: int) -> CodeType:
    path = source_of(module)
    return compile(changed(path.read_text(encoding="utf-8"), number), str(path), "exec")


def load() -> None:
    """Loads all that may be changed, and what else a trial needs."""
    all_mutations()
    for name in (*modules(), "mutation.judging"):
        importlib.import_module(name)
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            _FUNCTIONS[each.__code__.co_filename].append(each)
        elif isinstance(each, functools._lru_cache_wrapper) and _is_ours(each):
            _CACHES.append(each)
    gc.freeze()


def _is_ours(cache: Any) -> bool:
    return (cache.__wrapped__.__module__ or "").startswith("lowerings.")


def change_when_loaded(module: str, number: int) -> None:
    """The module will be loaded changed; nothing that reads its tables has been loaded yet."""
    assert not any(name.startswith("lowerings") for name in sys.modules)
    sys.meta_path.insert(0, ChangedModule(module, number))


def change_functions(module: str, number: int) -> None:
    """The functions of a loaded module become those of the changed one; nothing is remembered."""
    codes: dict[tuple[str, int], list[CodeType]] = defaultdict(list)
    for code in _codes_in(_code(module, number)):
        codes[code.co_qualname, code.co_firstlineno].append(code)
    for function in _FUNCTIONS[str(source_of(module))]:
        code = function.__code__
        match codes[code.co_qualname, code.co_firstlineno]:
            case [new]:
                function.__code__ = new
            case _:
                # Of several lambdas on a line nobody knows which one is which.
                continue
    for cache in _CACHES:
        cache.cache_clear()


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)
