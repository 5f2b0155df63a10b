"""Arrays on the command line: `4x8xf32=[[...]]`, `2x2xf32=3.0`, `2x2xf32=random`, `@file.npy`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import check_memory, numpy_dtype
from xla_dialect.types import BY_NAME, BY_TYPE, Array, ElementClass, array, element_name, extents

RANDOM_SEED = 0
"""Random inputs are the same in every run."""

AnyArray = NDArray[np.generic]

_SPEC = re.compile(r"(?P<dims>(?:\d+x)*)(?P<element>[a-zA-Z][\w<>]*)=(?P<value>.*)", re.S)
_ELEMENTS = {name: row.type for name, row in BY_NAME.items()} | {
    str(type_): type_ for type_ in BY_TYPE
}


class ArraySpecError(XlaError):
    """An array specification that cannot be read."""


def parse_array_specs(spec: str, generator: np.random.Generator) -> list[AnyArray]:
    """
    The arrays of one SPEC; `@file.npz` gives all arrays of the file in order.

    Element types are named as in HLO (`s32`, `pred`) or MLIR (`i32`, `i1`). Raises ArraySpecError.
    """
    if spec.startswith("@"):
        return load_arrays(spec[1:])
    match = _SPEC.fullmatch(spec)
    if match is None or match["element"] not in _ELEMENTS:
        raise ArraySpecError(
            f"'{spec}' is no array: write 4x8xf32=[[...]], 2x2xf32=3.0, 2x2xf32=random or @file.npy"
        )
    type_ = array(_ELEMENTS[match["element"]], [int(d) for d in match["dims"].split("x") if d])
    check_memory(type_)
    return [_array_of(type_, match["value"].strip(), spec, generator)]


def random_spec(type_: Array) -> str:
    """The SPEC of an array of a type, of the largest sizes, with random elements."""
    sizes = "".join(f"{int(size)}x" for size in extents(type_))
    return f"{sizes}{element_name(type_.element_type)}=random"


def _array_of(type_: Array, value: str, spec: str, generator: np.random.Generator) -> AnyArray:
    if value == "random":
        return random_array(type_, generator)
    shape, dtype = type_.get_shape(), numpy_dtype(type_.element_type)
    try:
        elements = np.array(_numbers(value))
        if elements.ndim and elements.shape != shape:
            raise ArraySpecError(
                f"'{spec}': the value has shape {list(elements.shape)}, the type {list(shape)}"
            )
        if elements.dtype.kind == "c" and dtype.kind != "c":
            raise ArraySpecError(f"'{spec}': a complex value for a real type")
        return np.broadcast_to(elements.astype(dtype), shape).copy()
    except (ValueError, SyntaxError, TypeError, OverflowError, RecursionError) as error:
        raise ArraySpecError(f"'{spec}': no value of the type: {error}") from None


_NUMBER = re.compile(r"0[xX][\da-fA-F]+|0[bB][01]+|(?<![\w.])[\d.]+(?:[eE][+-]?\d+)?j?")
_WORD = re.compile(r"-?\b(?:nan|inf|true|false)\b")
_WORDS = {
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": float("-inf"),
    "-nan": float("-nan"),
    "true": True,
    "false": False,
}


def _numbers(value: str) -> object:
    """Nested lists of numbers; `nan`, `inf`, `true`, `false` count as numbers."""

    def resolve(node: object) -> object:
        if isinstance(node, list | tuple):
            return [resolve(item) for item in node]
        return _WORDS[node] if isinstance(node, str) else node

    unknown = re.search(r"[A-Za-z_][\w.]*", _NUMBER.sub("", _WORD.sub("", value)))
    if unknown is not None:
        raise ValueError(f"'{unknown[0]}' is no number")
    try:
        return resolve(ast.literal_eval(_WORD.sub(r"'\g<0>'", value)))
    except SyntaxError as error:  # Its message is about a file.
        raise ValueError(f"'{value}' is no number, and no list of them") from error


def random_array(type_: Array, generator: np.random.Generator) -> AnyArray:
    """
    Random values of a type: floats standard normal, pred fair.

    Integers are below 100, and not negative, so that they can serve as indices.
    """
    shape, dtype = type_.get_shape(), numpy_dtype(type_.element_type)
    row = BY_TYPE[type_.element_type]
    if row.element_class is ElementClass.PRED:
        return generator.integers(0, 2, shape).astype(dtype)
    if row.element_class in ElementClass.INTEGER:
        return generator.integers(0, min(100, 2 ** (row.bits - 1)), shape).astype(dtype)
    if row.element_class is ElementClass.COMPLEX:
        parts = generator.standard_normal((2, *shape))
        return (parts[0] + 1j * parts[1]).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def snapshot_arrays(path: str) -> list[AnyArray]:
    """The arguments that a file of a program has with it, as an HloSnapshot; raises XlaError."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return []
    if data[:1] != b"\n":
        return []
    # It loads the readers of both formats, which other files do not need.
    from xla_dialect.binary import is_module, read_snapshot  # noqa: PLC0415

    return list(read_snapshot(data, path).arguments) if is_module(data) else []


def load_arrays(path: str) -> list[AnyArray]:
    """
    The array of a `.npy` file, all arrays of a `.npz` file or the arguments of an HloSnapshot.

    Nothing is unpickled.
    """
    if not Path(path).is_file():
        raise ArraySpecError(f"{path}: error: there is no such file")
    if arrays := snapshot_arrays(path):
        return arrays
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return [loaded]
        with loaded:
            return [_member(name, loaded[name]) for name in loaded.files]
    except Exception as error:
        # Zip, zlib, the tokenizer and numpy's own reader each have errors of their own.
        raise ArraySpecError(f"{path}: error: no numpy file: {error}") from None


def _member(name: str, found: object) -> AnyArray:
    """An array of a `.npz` file; ValueError for the bytes that numpy gives of what is none."""
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{name} is no array")
    return found


def as_parameter(value: AnyArray, type_: Array) -> AnyArray:
    """
    A loaded array as a parameter takes it.

    numpy files know no bf16 and f8: they hold them as raw bytes of the same width.
    """
    dtype = numpy_dtype(type_.element_type)
    if value.dtype.kind == "V" and value.dtype.itemsize == dtype.itemsize:
        return value.view(dtype)
    return value
