"""oneDNN through its C interface, as its users call it: a primitive is made once and runs often."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import files
from types import MappingProxyType
from typing import Any

from xla_dialect.diagnostics import XlaError

from .contenders import Array

SOURCE, WEIGHTS, BIAS, RESULT, MEAN, SCALE, SHIFT = 1, 33, 41, 17, 49, 51, 52
"""Arguments of primitives."""
INFERENCE, USE_SCALE_AND_SHIFT = 96, 2 | 4
DIRECT_CONVOLUTION, GELU_TANH, GELU_ERF, TANH, EXP = 0x1, 0x2B, 0x31, 0x21, 0x2A
MAX_POOLING, MEAN_POOLING, SOFTMAX = 0x1FF, 0x2FF, 0x30000
"""Kinds of propagation, flags, and algorithms."""
_TYPES = {"float32": 3, "bfloat16": 2, "int8": 5, "int32": 4}
_CPU, _IN_ORDER, _ANY_LAYOUT, _LAYOUT_OF_ARGUMENT = 1, 1, 1, 255
_ALLOCATED = ctypes.c_void_p(-1)
"""In the place of the address of memory: the library shall allocate it."""


def primitive(
    kind: str,
    arguments: Mapping[int, Array | None],
    before: Sequence[Any] = (),
    after: Sequence[Any] = (),
    *,
    beside: Mapping[int, Array] = MappingProxyType({}),
    chosen: Sequence[int] = (),
) -> Callable[[], Array]:
    """
    What computes the result, which is one of the arguments, and gives it.

    It is described by what is `before` and `after` the layouts of its arguments, None for one that
    it does without; those `beside` have no part in the description. The primitive itself chooses
    the layouts of those in `chosen`, from and to which every call converts.
    """
    engine, stream = _engine()
    layouts = [
        None if array is None else _layout(array, arg in chosen) for arg, array in arguments.items()
    ]
    description = _made(f"{kind}_primitive_desc_create", engine, *before, *layouts, *after, None)
    memories: dict[int, Any] = {}
    first: list[Callable[[], None]] = []
    last: list[Callable[[], None]] = []
    used = {arg: array for arg, array in arguments.items() if array is not None} | {**beside}
    for arg, array in used.items():
        given = _layout(array)
        memories[arg] = _made("memory_create", given, engine, ctypes.c_void_p(array.ctypes.data))
        wanted = ctypes.c_void_p(
            _library().dnnl_primitive_desc_query_md(description, _LAYOUT_OF_ARGUMENT, arg)
        )
        if not _library().dnnl_memory_desc_equal(given, wanted):
            plain, memories[arg] = memories[arg], _made("memory_create", wanted, engine, _ALLOCATED)
            ends = ((given, plain), (wanted, memories[arg]))
            (source, read), (target, written) = ends[::-1] if arg == RESULT else ends
            copy = _made("reorder_primitive_desc_create", source, engine, target, engine, None)
            steps = last if arg == RESULT else first
            steps.append(_step(copy, {SOURCE: read, RESULT: written}))
    steps = [*first, _step(description, memories), *last]

    def call() -> Array:
        for step in steps:
            step()
        _check(_library().dnnl_stream_wait(stream), "stream_wait")
        return used[RESULT]

    return call


def dimensions(sizes: Sequence[int]) -> Any:
    """Sizes or strides, as the library takes them."""
    return (ctypes.c_int64 * 12)(*sizes)


def _layout(array: Array, chosen: bool = False) -> Any:
    sizes, kind = dimensions(array.shape), _TYPES[array.dtype.name]
    if chosen:
        return _made("memory_desc_create_with_tag", array.ndim, sizes, kind, _ANY_LAYOUT)
    strides = dimensions([stride // array.itemsize for stride in array.strides])
    return _made("memory_desc_create_with_strides", array.ndim, sizes, kind, strides)


class _Argument(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_int), ("memory", ctypes.c_void_p))


def _step(described: Any, memories: Mapping[int, Any]) -> Callable[[], None]:
    made, (_, stream) = _made("primitive_create", described), _engine()
    arguments = (_Argument * len(memories))(*memories.items())

    def step() -> None:
        status = _library().dnnl_primitive_execute(made, stream, len(memories), arguments)
        _check(status, "primitive_execute")

    return step


@cache
def _engine() -> tuple[Any, Any]:
    engine = _made("engine_create", _CPU, ctypes.c_size_t(0))
    return engine, _made("stream_create", engine, _IN_ORDER)


def _made(what: str, *arguments: Any) -> Any:
    handle = ctypes.c_void_p()
    _check(getattr(_library(), f"dnnl_{what}")(ctypes.byref(handle), *arguments), what)
    return handle


def _check(status: int, what: str) -> None:
    if status:
        raise XlaError(f"oneDNN: dnnl_{what} answers {status}")


@cache
def _library() -> Any:
    found = next(each for each in files("onednn-cpu-gomp") or () if each.name == "libdnnl.so")
    library = ctypes.CDLL(str(found.locate()))
    library.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
    return library
