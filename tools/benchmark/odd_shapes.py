"""Kernels of odd shapes for `xla-tune`: primes, tall, flat, small batches, many dimensions."""

from __future__ import annotations

from collections.abc import Sequence


def _type(*shape: int) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def _program(operation: str, result: str, *parameters: str) -> str:
    named = ", ".join(f"%{name}: {type_}" for name, type_ in zip("ab", parameters, strict=False))
    return f"""
        func.func @main({named}) -> {result} {{
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %r = {operation}
          return %r : {result}
        }}
    """


def _product(m: int, k: int, n: int, *batch: int, turned: bool = False) -> str:
    """A matrix product; `turned`: the second factor has its summed dimension last."""
    b = len(batch)
    lhs, rhs = _type(*batch, m, k), _type(*batch, *((n, k) if turned else (k, n)))
    result = _type(*batch, m, n)
    leading = list(range(b))
    batching = f"batching_dims = {leading} x {leading}, " if b else ""
    summed = f"contracting_dims = [{b + 1}] x [{b + int(turned)}]"
    return _program(
        f"stablehlo.dot_general %a, %b, {batching}{summed} : ({lhs}, {rhs}) -> {result}",
        result,
        lhs,
        rhs,
    )


def _convolution(size: Sequence[int], window: int, features: int, groups: int = 1) -> str:
    n, h, w, c = size
    rest = window - 1
    x, kernel = _type(n, h, w, c), _type(window, window, c // groups, features)
    result = _type(n, h - rest, w - rest, features)
    return _program(
        "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
        "window = {} {batch_group_count = 1 : i64, "
        f"feature_group_count = {groups} : i64}} : ({x}, {kernel}) -> {result}",
        result,
        x,
        kernel,
    )


def _transpose(order: Sequence[int], *shape: int) -> str:
    result = _type(*(shape[d] for d in order))
    return _program(
        f"stablehlo.transpose %a, dims = {list(order)} : ({_type(*shape)}) -> {result}",
        result,
        _type(*shape),
    )


def _sum(dimension: int, *shape: int) -> str:
    result = _type(*(n for d, n in enumerate(shape) if d != dimension))
    return _program(
        f"stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [{dimension}]"
        f" : ({_type(*shape)}, tensor<f32>) -> {result}",
        result,
        _type(*shape),
    )


ODD_SHAPES: dict[str, str] = {
    "product of primes": _product(97, 389, 211),
    "tall product": _product(4099, 17, 23),
    "flat product": _product(7, 1021, 509),
    "product with a transpose": _product(127, 257, 131, turned=True),
    "small products": _product(11, 13, 19, 53),
    "matrix times vectors": _product(769, 1021, 3),
    "convolution, batch of one": _convolution((1, 19, 23, 13), 5, 29),
    "depthwise convolution": _convolution((1, 29, 31, 37), 3, 37, 37),
    "5-D transpose": _transpose((4, 2, 0, 3, 1), 7, 11, 13, 17, 19),
    "5-D transpose, last kept": _transpose((3, 1, 0, 2, 4), 13, 11, 17, 19, 5),
    "column sums": _sum(0, 1999, 61),
    "sums in the middle": _sum(1, 23, 211, 47),
}
"""Programs in StableHLO by what they compute."""
