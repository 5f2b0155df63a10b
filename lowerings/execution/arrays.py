"""Numpy arrays at the border to machine code: their addresses, their checks, their making."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import ml_dtypes
import numpy as np

from lowerings.execution.signature import ArraySpec, Signature
from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import BY_NAME, Array, DType, ElementClass, spell_array
from xla_dialect.runtime.limits import physical_memory

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""


class ArgumentError(XlaError, ValueError):
    """The arrays that a program is called with do not fit its signature."""


class OutOfMemory(XlaError, MemoryError):
    """Memory for a program's arrays cannot be had."""


@runtime_checkable
class _SupportsDLPack(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


# Every CPython object starts with a header; numpy's array object continues with the address of
# the data. `array.ctypes.data` says the same eight times slower.
_HEADER_BYTES = object.__basicsize__
_pointer_at = ctypes.c_void_p.from_address


def _address_in_object(array: Array) -> int:
    return _pointer_at(id(array) + _HEADER_BYTES).value or 0


def _address_by_interface(array: Array) -> int:
    return array.ctypes.data


def _choose_address_of() -> Any:
    samples: list[Array] = [np.zeros(shape, np.int8) for shape in (1, 7, (3, 5), ())]
    samples.append(samples[2][1:, 2:])
    agree = all(_address_in_object(each) == _address_by_interface(each) for each in samples)
    return _address_in_object if agree else _address_by_interface


address_of = _choose_address_of()
"""The address of an array's first element."""


def require_memory(name: str, size: int, limit: int | None = None) -> None:
    """
    Raises OutOfMemory for a program whose arrays cannot all be in memory, or in `limit` bytes.

    An operating system may promise more than it has, and end the process when it is used.
    """
    if limit is not None and size > limit:
        raise OutOfMemory(f"{name}: needs {size} bytes for its arrays, the limit is {limit}")
    if size > physical_memory():
        raise OutOfMemory(
            f"{name}: needs {size} bytes for its arrays, this machine has {physical_memory()}"
        )


def allocate(size: int) -> Array:
    """`size` bytes at an address that is a multiple of `ALIGNMENT`; raises OutOfMemory."""
    try:
        raw = np.empty(size + ALIGNMENT - 1, np.uint8)
    except (MemoryError, ValueError) as error:
        raise OutOfMemory(f"cannot allocate {size} bytes") from error
    start = -address_of(raw) % ALIGNMENT
    return raw[start : start + size]


def array_at(pointer: int | None, dtype: DType, sizes: Sequence[int]) -> Array:
    """The array at an address, without a copy."""
    count = math.prod(sizes)
    if not count:
        return np.empty(sizes, dtype)
    memory: Any = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(pointer or 0)
    return np.frombuffer(memory, dtype).reshape(sizes)


AddressCall: TypeAlias = Callable[[Sequence[int | None]], None]
"""A call with the addresses of operands and results."""


def called_with(
    call: AddressCall, operands: Sequence[Any], results: Iterable[tuple[DType, Sequence[int]]]
) -> list[Array]:
    """What a call makes of arrays: results of these types and sizes."""
    found = [np.zeros(sizes, dtype) for dtype, sizes in results]
    given = [np.ascontiguousarray(operand) for operand in operands]
    call([array.ctypes.data for array in (*given, *found)])
    return found


def require_count(signature: Signature, found: int) -> None:
    """Raises ArgumentError where a program is called with more or less arrays than it takes."""
    if found != len(signature.parameters):
        raise ArgumentError(
            f"{signature.name}: expected {len(signature.parameters)} arrays, found {found}; "
            f"the signature is {signature}"
        )


def from_arguments(values: Sequence[object], signature: Signature) -> list[Array]:
    """All arguments of a call as `from_argument` has them; raises ArgumentError."""
    require_count(signature, len(values))
    return [from_argument(each, signature, number) for number, each in enumerate(values)]


def from_argument(value: object, signature: Signature, number: int) -> Array:
    """
    An argument as a dense, aligned array of the parameter's type and shape.

    Raises ArgumentError as `checked_argument` does.
    """
    array = checked_argument(value, signature, number)
    array = np.ascontiguousarray(array).reshape(array.shape)
    return array if array.flags.aligned else array.copy()


def checked_argument(value: object, signature: Signature, number: int) -> Array:
    """
    An argument as an array of the parameter's type and shape, wherever its elements lie.

    Arrays (anything with `__array__` or `__dlpack__`) must have that type; Python numbers and
    lists of them are converted. Raises ArgumentError.
    """
    spec = signature.parameters[number]
    dtype = spec.dtype

    def wrong(found: str) -> ArgumentError:
        return ArgumentError(
            f"{signature.name}: parameter {signature.parameter_name(number)}: expected {spec}, "
            f"found {found}"
        )

    try:
        array = _as_array(value, spec)
    except (TypeError, ValueError, OverflowError, BufferError, RuntimeError) as error:
        raise wrong(f"{type(value).__name__} that is no array of it: {error}") from error
    if array.dtype != dtype or not spec.admits(array.shape):
        raise wrong(spell_array(array))
    return array


def _as_array(value: object, spec: ArraySpec) -> Array:
    if hasattr(value, "__array__"):
        return np.asarray(cast(Any, value))
    if isinstance(value, _SupportsDLPack):
        return cast(Array, np.from_dlpack(cast(Any, value)))
    if isinstance(value, bool | int | float | complex | list | tuple):
        return _from_numbers(cast(Any, value), spec)
    raise TypeError("neither an array nor numbers")


_KINDS = (ElementClass.PRED, ElementClass.INTEGER, ElementClass.FLOAT, ElementClass.COMPLEX)
_NUMPY_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
"""From numpy's letter to the number of the kind."""


def _from_numbers(value: Any, spec: ArraySpec) -> Array:
    """Python numbers as an array; raises an error where they do not fit the element type."""
    found = np.asarray(value)
    element_class = BY_NAME[spec.element_type].element_class
    wanted = next(number for number, kind in enumerate(_KINDS) if element_class & kind)
    if found.size and _NUMPY_KINDS.get(found.dtype.kind, len(_KINDS)) > wanted:
        raise TypeError(f"it holds elements of numpy type {found.dtype}")
    if element_class & ElementClass.INTEGER and found.size:
        limits = cast(Any, ml_dtypes).iinfo(spec.dtype)
        if found.min() < limits.min or found.max() > limits.max:
            raise OverflowError(f"it holds numbers beyond {limits.min} to {limits.max}")
    return np.asarray(value, spec.dtype)
