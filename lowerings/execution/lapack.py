"""
The LAPACK routines that JAX calls on the CPU, `lapack_<type><routine>_ffi`, by jaxlib's handlers of
XLA's FFI; and calls that XLA expands into loops, such as `Qr`, which are the same routines.

Machine code calls them without Python, and all other executors call them in the same way, so
results are the same bits. What a handler would trust is checked before: shapes and types. It takes
matrices by columns. Of Cholesky and triangular systems it gets them as they lie, by rows, which are
the transposes: their factor is in the other triangle, and the system is solved from the other side.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness, StringAttr
from xdsl.ir import Attribute

from lowerings.driver.own_operations import given_by_keyword
from lowerings.execution.arrays import OutOfMemory
from lowerings.execution.ffi import (
    BUFFER,
    ELEMENT_TYPES,
    Attributes,
    Capsule,
    Context,
    FfiHandler,
    HandlerStage,
    api,
    capsule_address,
    handles,
    made,
    raise_error,
)
from lowerings.runtime import CALL_HANDLER, library
from lowerings.runtime.declarations import structure
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import flatten, is_array, sizes_of

ROUTINES: Mapping[str, str] = {
    "geev": "nn -> n n c:nn c:nn i:",
    "gees": "nn -> nn nn n n i: i:",
    "gehrd": "nn -> nn p i:",
    "geqp3": "mn i:n -> mn i:n k",
    "geqrf": "mn -> mn k",
    "gesdd": "mn -> mn r:k mu vn i:",
    "gesvd": "mn -> mn r:k mu vn i:",
    "getrf": "mn -> mn i:k i:",
    "gtsv": "n n n nm -> n n n nm i:",
    "heevd": "nn -> nn r:n i:",
    "hetrd": "nn -> nn r:n r:p p i:",
    "orgqr": "mn q -> mn",
    "ormqr": "sn q mt -> mt",
    "potrf": "nn -> nn i:",
    "syevd": "nn -> nn r:n i:",
    "sytrd": "nn -> nn r:n r:p p i:",
    "trsm": "ss mt -> mt",
    "ungqr": "mn q -> mn",
    "unmqr": "sn q mt -> mt",
}
"""
By the name in the target, without the letter of the element type: operands and results for one
problem. A letter is a size; `k` is the least of `m` and `n`, `p` one less than `n`, and `s` the one
of `m` and `t` that is multiplied. Before a colon stands the element type that is not that of the
matrix: its real or complex one, or `s32`.
"""

_OF_COMPLEX = {"geev": "nn -> n nn nn i:", "gees": "nn -> nn nn n i: i:"}
"""Those that differ for complex matrices."""

_CHARACTERS = {"uplo": "LU", "side": "LR", "trans_x": "NTC", "diag": "NU", "sort": "N"}
_MODES = {"gesdd": "ANS", "gesvd": "ANS"}
"""The characters that attributes may be, and those of `mode`, which others have `N` or `V` for."""

_DTYPES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
_REAL, _COMPLEX = dict(zip("sdcz", "sdsd", strict=True)), dict(zip("sdcz", "czcz", strict=True))

_FLIPPED = ("potrf", "trsm")
"""The routines that get the transposes of their matrices."""
_FLIPS = {"uplo": {"L": "U", "U": "L"}, "side": {"L": "R", "R": "L"}}
"""What becomes of their attributes then."""

_NEEDED = {
    "potrf": ("uplo",),
    "trsm": ("side", "uplo", "trans_x", "diag"),
    "gehrd": ("low", "high"),
    **dict.fromkeys(("ormqr", "unmqr"), ("left", "transpose")),
}
"""Attributes that are looked at here."""

_COMPLEX_ROUTINES = {"syevd": "heevd", "orgqr": "ungqr"}

_Drop = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Record, _Array = (structure("ffi.h", f"xla_handler_{name}") for name in ("call", "array"))


@cache
def _handlers() -> tuple[Mapping[str, Capsule], Any, Any]:
    """Jaxlib's handlers, the context that they are called in, and what drops an error."""
    try:
        jaxlib = cast(Any, import_module("jaxlib.lapack"))
        jaxlib._lapack.initialize()
    except ImportError as error:
        raise XlaError("calls of LAPACK need jaxlib: pip install jaxlib scipy") from error
    found = {name: handler for name, handler, *_ in jaxlib.registrations()["cpu"]}
    return found, handles.add(Context({})), _Drop(handles.take)


class LapackCall:
    """One call of a program: called with the addresses of operands and results."""

    def __init__(
        self, routine: str, letter: str, attributes: Mapping[str, Attribute], op: CustomCallOp
    ):
        """Raises XlaError for arrays and attributes that the routine does not have."""
        types = flatten((*op.operand_types, *op.result_types))
        if not all(map(is_array, types)):
            raise XlaError(f"{routine} takes and returns arrays only")
        arrays = [
            (sizes_of(each), numpy_dtype(each.element_type).name)
            for each in cast("tuple[ArrayType, ...]", types)
        ]
        if not arrays:
            raise XlaError(f"{routine} takes a matrix")
        rank = 1 if routine == "gtsv" else 2
        batch = arrays[0][0][: max(len(arrays[0][0]) - rank, 0)]
        attributes = _checked(routine, attributes)
        own, operands = _arrays(routine, letter, attributes, [sizes for sizes, _ in arrays], batch)
        if arrays != own[: len(arrays)] or len(flatten(op.operand_types)) != operands:
            found, expected = (" ".join(map(_spelled, each)) for each in (arrays, own))
            raise XlaError(f"{routine} has the arrays {expected}, found {found}")
        found, context, drop = _handlers()
        is_flipped = routine in _FLIPPED
        given = {
            name: _character(_FLIPS[name][chr(_number(each))])
            if is_flipped and name in _FLIPS
            else each
            for name, each in attributes.items()
        }
        self._kept: list[Any] = [Attributes(given), found, drop]
        frame = made("CallFrame", api=ctypes.addressof(api()[0]), ctx=context)
        frame.stage, frame.attrs = HandlerStage.EXECUTE, self._kept[0].struct
        frame.args, frame.rets = self._group(operands), self._group(len(own) - operands)
        records = (_Array * len(own))(*(self._array(*each, batch, is_flipped) for each in own))
        # Handlers end the process where a matrix that they write has no elements.
        is_empty = not prod(own[operands + (3 if routine == "gtsv" else 0)][0])
        for number, record in enumerate(records[operands:]):
            record.is_zero = is_empty or number in _unwanted(routine, letter, attributes)
        self.record = _Record(
            None if is_empty else capsule_address(found[f"lapack_{letter}{routine}_ffi"]),
            ctypes.cast(drop, ctypes.c_void_p).value,
            ctypes.addressof(frame),
            ctypes.addressof(records),
            *(operands, len(own), len(arrays)),
        )
        if (letter, routine) == ("s", "trsm") and chr(_number(attributes["side"])) == "L":
            words = (given["uplo"], given["trans_x"], given["diag"])
            self.record.triangle[:] = list(map(_number, words))
        self._kept += [frame, records]
        self._call: Any = getattr(library(), CALL_HANDLER)

    def _group(self, count: int) -> Any:
        types = (ctypes.c_int32 * count)(*[BUFFER] * count)
        self._kept.append(types)
        return made("Args", size=count, types=ctypes.addressof(types))

    def _array(
        self, sizes: tuple[int, ...], dtype: str, batch: Sequence[int], is_flipped: bool
    ) -> Any:
        is_matrix = len(sizes) == len(batch) + 2
        # What lies by rows is the transpose, by columns.
        shown = (*batch, sizes[-1], sizes[-2]) if is_matrix and is_flipped else sizes
        dimensions = (ctypes.c_int64 * len(sizes))(*shown)
        self._kept.append(dimensions)
        buffer = made("Buffer", dtype=ELEMENT_TYPES[dtype], rank=len(sizes))
        buffer.dims = ctypes.addressof(dimensions)
        size = np.dtype(dtype).itemsize
        moved = sizes[-2:] if is_matrix and not is_flipped and 1 not in sizes[-2:] else (0, 0)
        return _Array(buffer, prod(sizes) * size, size, *(moved if prod(moved) else (0, 0)))

    def __call__(self, pointers: Sequence[int | None]) -> None:
        """Raises XlaError where the handler has an error, and OutOfMemory."""
        places = (ctypes.c_void_p * len(pointers))(*pointers)
        error = ctypes.c_void_p()
        if self._call(ctypes.byref(self.record), places, ctypes.byref(error)):
            raise_error(error.value)
            raise OutOfMemory("no memory for matrices by columns")


def _checked(routine: str, attributes: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
    """The attributes of a call; raises XlaError for characters that say nothing."""
    for name, attribute in attributes.items():
        characters = "NV" if name.startswith(("mode", "compute_")) else _CHARACTERS.get(name)
        characters = _MODES.get(routine, characters) if name == "mode" else characters
        if characters and chr(_number(attribute)) not in characters:
            raise XlaError(f"{routine}: {name} is {attribute}, not one of {', '.join(characters)}")
    for name in _NEEDED.get(routine, ()):
        if name not in attributes:
            raise XlaError(f"{routine} does not say its {name}")
    return attributes


def _arrays(
    routine: str,
    letter: str,
    attributes: Mapping[str, Attribute],
    found: Sequence[tuple[int, ...]],
    batch: tuple[int, ...],
) -> tuple[list[tuple[tuple[int, ...], str]], int]:
    """Shapes and dtypes of operands and results, as the sizes of those that are there say."""
    spec = _OF_COMPLEX.get(routine, ROUTINES[routine]) if letter in "cz" else ROUTINES[routine]
    operands, results = (side.split() for side in spec.split("->"))
    sizes: dict[str, int] = {}
    for each, shape in zip((*operands, *results), found, strict=False):
        for name, size in zip(each.rpartition(":")[2], shape[len(batch) :], strict=False):
            sizes.setdefault(name, size)
    if "m" in sizes and "n" in sizes:
        sizes["k"] = min(sizes["m"], sizes["n"])
    sizes["p"] = max(sizes.get("n", 0) - 1, 0)
    if routine == "trsm":
        sizes["s"] = sizes["m" if chr(_number(attributes["side"])) == "L" else "t"]
    elif routine in ("ormqr", "unmqr"):
        sizes["s"] = sizes["m" if _number(attributes["left"]) else "t"]
    mode = chr(_number(attributes["mode"])) if "mode" in attributes else ""
    if "u" in sizes and mode != "N":
        sizes["u"], sizes["v"] = (sizes[n] if mode == "A" else sizes["k"] for n in "mn")
    at_most = min(sizes.get("s", sizes.get("m", 0)), sizes.get("n", 0))
    if routine == "gehrd":
        low, high = (_number(attributes[name]) for name in ("low", "high"))
        if sizes.get("n") and not 1 <= low <= high <= sizes["n"]:
            raise XlaError(f"gehrd of rows {low} to {high}, of {sizes['n']}")
    wide = sizes.get("n", 0) if routine in ("orgqr", "ungqr") else 0
    if max(sizes.get("q", 0), wide) > at_most:
        raise XlaError(f"{routine} has more vectors than a matrix of {at_most} rows or columns")
    dtypes = {"r": _DTYPES[_REAL[letter]], "c": _DTYPES[_COMPLEX[letter]], "i": "int32"}
    arrays = [
        ((*batch, *(sizes.get(n, -1) for n in name)), dtypes.get(kind, _DTYPES[letter]))
        for kind, _, name in (each.rpartition(":") for each in (*operands, *results))
    ]
    return arrays, len(operands)


def _unwanted(routine: str, letter: str, attributes: Mapping[str, Attribute]) -> set[int]:
    """The results that a routine leaves alone: vectors that nobody wants."""
    first = 2 if letter in "sd" else 1
    numbers = {
        "geev": {"compute_left": {first}, "compute_right": {first + 1}},
        "gees": {"mode": {1}},
        "gesdd": {"mode": {2, 3}},
        "gesvd": {"mode": {2, 3}},
    }
    found: set[int] = set()
    for name, results in numbers.get(routine, {}).items():
        if name in attributes and chr(_number(attributes[name])) == "N":
            found |= results
    return found


def _spelled(array: tuple[tuple[int, ...], str]) -> str:
    return f"{array[1]}[{','.join(map(str, array[0]))}]"


def _number(attribute: Attribute) -> int:
    # xDSL may hold `true : i1` as -1; none of these attributes is negative.
    return abs(cast("IntegerAttr[Any]", attribute).value.data)


def _character(value: str) -> Attribute:
    return IntegerAttr(ord(value), IntegerType(8, Signedness.UNSIGNED))


AttributesOf: TypeAlias = Callable[[CustomCallOp], Mapping[str, Attribute]]


class LapackHandler(FfiHandler):
    """A routine as a custom call, for a letter or for whatever element type its operand has."""

    def __init__(
        self, routine: str, letter: str | None = None, attributes: AttributesOf = given_by_keyword
    ):
        self._routine, self._letter, self._attributes = routine, letter, attributes

    def call_of(self, op: CustomCallOp) -> LapackCall:
        letter = self._letter
        if letter is None:
            operand = cast(ArrayType, op.operand_types[0])
            dtype = numpy_dtype(operand.element_type).name
            letter = next((each for each, name in _DTYPES.items() if name == dtype), None)
            if letter is None:
                target, names = op.custom_call_target.data, ", ".join(_DTYPES.values())
                raise XlaError(f"'{target}' takes {names}, found {dtype}")
        is_complex = self._letter is None and letter in "cz"
        routine = _COMPLEX_ROUTINES.get(self._routine, "") if is_complex else ""
        return LapackCall(routine or self._routine, letter, self._attributes(op), op)


def _eigen_attributes(op: CustomCallOp) -> Mapping[str, Attribute]:
    """From `lower,sort,iterations,tolerance`; what is not to be sorted may be."""
    found = op.attributes.get("xla.backend_config")
    text = found.data.strip('"') if isinstance(found, StringAttr) else ""
    if _EIGEN_CONFIGURATION.fullmatch(text) is None:
        raise XlaError(f"'Eigh' has the configuration '{text}', not as '1,1,100,1e-6'")
    uplo = "L" if text.startswith("1") else "U"
    return {"mode": _character("V"), "uplo": _character(uplo)}


_EIGEN_CONFIGURATION = re.compile(r"[01],[01],\d+,[-+.\de]+")


_LETTERS = {"sy": "sd", "or": "sd", "he": "cz", "un": "cz"}
"""The element types of routines that are for some only."""


def _targets() -> Iterator[tuple[str, LapackHandler]]:
    for routine in ROUTINES:
        for letter in _LETTERS.get(routine[:2], "sdcz"):
            yield f"lapack_{letter}{routine}_ffi", LapackHandler(routine, letter)
    yield "Eigh", LapackHandler("syevd", None, _eigen_attributes)
    yield "ProductOfElementaryHouseholderReflectors", LapackHandler("orgqr", None, lambda _: {})
    yield "Qr", LapackHandler("geqrf", None, lambda _: {})


LAPACK: Mapping[str, LapackHandler] = dict(_targets())
"""By target."""
