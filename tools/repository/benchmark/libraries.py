"""What users would call by hand in the place of rows: libraries, each called as its users do."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_float
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from . import onednn
from .contenders import Array, Library, error_of_elements

NUMPY, SCIPY, ONEDNN = "numpy", "scipy", "onednn-cpu-gomp"
FOURIER = {"pyfftw": "pyfftw.builders", "mkl-fft": "mkl_fft", "ducc0": "ducc0.fft"}
"""Libraries of Fourier transforms, and where their functions are."""
PACKAGES = (NUMPY, SCIPY, ONEDNN, *FOURIER)


def _numpy(function: Callable[..., Any]) -> Library:
    """A function of numpy, which has as many threads as there are processors."""
    return Library(NUMPY, lambda threads, *arrays: lambda: function(*arrays))


def _scipy(function: str, *given: Any, **options: Any) -> Library:
    """A function of scipy's linear algebra."""

    def start(threads: int, *arrays: Array) -> Callable[[], Any]:
        called = getattr(importlib.import_module("scipy.linalg"), function)
        return lambda: called(*arrays, *given, **options)

    return Library(SCIPY, start)


def _fourier(name: str, *size: int) -> tuple[Library, ...]:
    """All libraries: the interface of most is that of numpy."""

    def of_scipy(threads: int, x: Array) -> Callable[[], Any]:
        function = getattr(importlib.import_module("scipy.fft"), name)
        return lambda: function(x, *size, workers=threads)

    def of_fftw(threads: int, x: Array) -> Callable[[], Any]:
        """A plan that was measured, for which it writes into the operand."""
        make = getattr(importlib.import_module(FOURIER["pyfftw"]), name)
        return make(x.copy(), *size, threads=threads, planner_effort="FFTW_MEASURE")

    def of_mkl(threads: int, x: Array) -> Callable[[], Any]:
        function = getattr(importlib.import_module(FOURIER["mkl-fft"]), name)
        return lambda: function(x, *size)

    def of_ducc(threads: int, x: Array) -> Callable[[], Any]:
        transforms = importlib.import_module(FOURIER["ducc0"])
        axes = [-2, -1] if name == "fft2" else [-1]
        if size:
            return lambda: transforms.c2r(x, axes, *size, False, 2, nthreads=threads)
        function = transforms.r2c if name == "rfft" else transforms.c2c
        return lambda: function(x, axes, nthreads=threads)

    return (
        _numpy(lambda x: getattr(np.fft, name)(x, *size)),
        Library(SCIPY, of_scipy),
        *map(Library, FOURIER, (of_fftw, of_mkl, of_ducc)),
    )


def _as_large(kind: str, algorithm: int, *after: Any) -> Library:
    """A primitive whose result is as large as its operand; each element a function of one."""

    def start(threads: int, x: Array) -> Callable[[], Any]:
        arguments = {onednn.SOURCE: x, onednn.RESULT: np.empty_like(x)}
        return onednn.primitive(kind, arguments, (onednn.INFERENCE, algorithm), after)

    return Library(ONEDNN, start, error_of_elements)


def _elementwise(algorithm: int) -> Library:
    return _as_large("eltwise_forward", algorithm, c_float(0), c_float(0))


def _layer_norm(threads: int, x: Array, *beside: Array) -> Callable[[], Any]:
    arguments = {onednn.SOURCE: x, onednn.RESULT: np.empty_like(x), onednn.MEAN: None}
    return onednn.primitive(
        "layer_normalization_forward",
        arguments,
        (onednn.INFERENCE,),
        (c_float(1e-5), onednn.USE_SCALE_AND_SHIFT if beside else 0),
        beside=dict(zip((onednn.SCALE, onednn.SHIFT), beside, strict=bool(beside))),
    )


def _product(threads: int, x: Array, y: Array) -> Callable[[], Any]:
    kind = np.int32 if x.dtype == np.int8 else x.dtype
    result = np.empty((*x.shape[:-1], y.shape[-1]), kind)
    return onednn.primitive(
        "matmul",
        {onednn.SOURCE: x, onednn.WEIGHTS: y, onednn.BIAS: None, onednn.RESULT: result},
    )


def _convolution(
    order: str, stride: int = 1, padding: tuple[int, int] = (1, 1), *, grouped: bool = False
) -> Library:
    """
    A convolution of square kernels, of features first or last.

    The library chooses the layout of the kernel, and of all where features are first.
    """

    def start(threads: int, x: Array, kernel: Array) -> Callable[[], Any]:
        rank = x.ndim - 2
        sizes = [-(-size // stride) for size in (x.shape[1:-1] if order == "last" else x.shape[2:])]
        chosen = [onednn.WEIGHTS]
        if order == "last":
            result = np.empty((x.shape[0], *sizes, kernel.shape[-1]), _SUMS.get(x.dtype, x.dtype))
            x, written = np.moveaxis(x, -1, 1), np.moveaxis(result, -1, 1)
            kernel = np.moveaxis(kernel, (-1, -2), (0, 1))
        else:
            result = written = np.empty((x.shape[0], kernel.shape[0], *sizes), x.dtype)
            chosen += [onednn.SOURCE, onednn.RESULT]
        call = onednn.primitive(
            "convolution_forward",
            {
                onednn.SOURCE: x,
                onednn.WEIGHTS: kernel[:, None] if grouped else kernel,
                onednn.BIAS: None,
                onednn.RESULT: written,
            },
            (onednn.INFERENCE, onednn.DIRECT_CONVOLUTION),
            [onednn.dimensions([each] * rank) for each in (stride, 0, *padding)],
            chosen=chosen,
        )
        return lambda: (call(), result)[1]

    return Library(ONEDNN, start)


_SUMS = {np.dtype(np.int8): np.dtype(np.int32)}


_MATRIX_PRODUCT = (_numpy(np.matmul), Library(ONEDNN, _product))
_NARROW_PRODUCT = (Library(ONEDNN, _product),)

LIBRARIES: Mapping[str, Sequence[Library]] = {
    "add": (_numpy(np.add),),
    "exp": (_numpy(np.exp), _elementwise(onednn.EXP)),
    "tanh": (_numpy(np.tanh), _elementwise(onednn.TANH)),
    "sin(x) * cos(x) + x": (_numpy(lambda x: np.sin(x) * np.cos(x) + x),),
    "gelu": (_elementwise(onednn.GELU_TANH),),
    "gelu, exact": (_elementwise(onednn.GELU_ERF),),
    "exp bf16": (_elementwise(onednn.EXP),),
    "log f64": (_numpy(lambda x: np.log(x * x)),),
    "sum of rows": (_numpy(lambda x: x.sum(1)),),
    "sum of rows f64": (_numpy(lambda x: x.sum(1)),),
    "sum of columns": (_numpy(lambda x: x.sum(0)),),
    "sum of all": (_numpy(np.sum),),
    "argmax of rows": (_numpy(lambda x: x.argmax(1)),),
    "softmax": (_as_large("softmax_forward", onednn.SOFTMAX, 1),),
    "layer norm": (Library(ONEDNN, _layer_norm),),
    "layer norm, scaled": (Library(ONEDNN, _layer_norm),),
    **{f"matmul {size}": _MATRIX_PRODUCT for size in (128, 256, 512, 1024)},
    "matmul 250x333x127": _MATRIX_PRODUCT,
    "matmul 32 of 64": _MATRIX_PRODUCT,
    "matmul bf16 512": _NARROW_PRODUCT,
    "matmul bf16 1024": _NARROW_PRODUCT,
    "matmul s8 512": _NARROW_PRODUCT,
    "matmul f64 512": (_numpy(np.matmul),),
    "matrix * vector 2048": (_numpy(np.matmul),),
    "vector * matrix 2048": (_numpy(np.matmul),),
    "conv 3x3 NHWC": (_convolution("last"),),
    "conv 1x1 NHWC": (_convolution("last", padding=(0, 0)),),
    "conv 3x3 stride 2 NHWC": (_convolution("last", 2, (0, 1)),),
    "conv 3x3 depthwise NHWC": (_convolution("last", grouped=True),),
    "conv 3x3 s8 NHWC": (_convolution("last"),),
    "conv 7x7 stride 2 NCHW": (_convolution("first", 2, (3, 3)),),
    "conv 3x3 NCHW": (_convolution("first"),),
    "conv 3x3 stride 2 NCHW": (_convolution("first", 2, (0, 1)),),
    "conv 5 NWC": (_convolution("last", padding=(2, 2)),),
    "conv 3x3x3 NDHWC": (_convolution("last"),),
    "cumulative sum": (_numpy(np.cumsum),),
    "cumulative maximum of rows": (_numpy(lambda x: np.maximum.accumulate(x, 1)),),
    "cumulative sum of columns": (_numpy(lambda x: np.cumsum(x, 0)),),
    "sort 1M": (_numpy(np.sort),),
    "argsort 256k": (_numpy(lambda x: np.argsort(x, stable=True)),),
    "sort 1000 rows of 1000": (_numpy(np.sort),),
    "sort 1000 columns of 1000": (_numpy(lambda x: np.sort(x, 0)),),
    "transpose": (_numpy(lambda x: np.ascontiguousarray(x.T)),),
    "transpose 2048": (_numpy(lambda x: np.ascontiguousarray(x.T)),),
    "NCHW to NHWC": (_numpy(lambda x: np.ascontiguousarray(x.transpose(0, 2, 3, 1))),),
    "embedding": (_numpy(lambda x, i: x[i]),),
    "elements of a matrix": (_numpy(lambda x, i, j: x[i, j]),),
    "fft 64 of 1024": _fourier("fft"),
    "fft 64 of 1000": _fourier("fft"),
    "fft 64 of 1009, a prime": _fourier("fft"),
    "fft 65536": _fourier("fft"),
    "fft 256x256": _fourier("fft2"),
    "fft 1024x1024": _fourier("fft2"),
    "rfft 64 of 2048": _fourier("rfft"),
    "irfft 64 of 2048": _fourier("irfft", 2048),
    "cholesky 256": (_numpy(np.linalg.cholesky), _scipy("cholesky", lower=True)),
    "cholesky 256, LAPACK": (_numpy(np.linalg.cholesky), _scipy("cholesky", lower=True)),
    "triangular solve 256": (_scipy("solve_triangular", lower=True),),
    "triangular solve 256, LAPACK": (_scipy("solve_triangular", lower=True),),
    "solve 128, LAPACK": (_numpy(np.linalg.solve), _scipy("solve")),
    "qr 256, LAPACK": (_numpy(np.linalg.qr), _scipy("qr", mode="economic")),
}
"""By the names of rows."""


def libraries_of(row: str) -> list[Library]:
    """Those that are installed of what computes the same as a row."""
    return [each for each in LIBRARIES.get(row, ()) if each.package not in missing()]


@cache
def missing() -> tuple[str, ...]:
    """The libraries that are not installed, by package."""
    return tuple(package for package in PACKAGES if not _is_installed(package))


def _is_installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False
