"""Random numbers: known answers, bits equal to XLA CPU, ranges and moments."""

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peers import has_jax
from small_programs import constant, evaluate, numbers, same, shape, tuple_of
from xla_cpu import xla_cpu

import lowerings
from xla_dialect.attributes import RandomAlgorithm
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.literals.random_bits import NumpyWords, philox, random_bits, threefry
from xla_dialect.ops.random import (
    RngBitGeneratorOp,
    RngGetAndUpdateStateOp,
    RngOp,
    StochasticConvertOp,
)
from xla_dialect.types import BY_NAME

if has_jax():
    import jax

ONES = 0xFFFFFFFF


def words_of(text: str) -> list[np.ndarray]:
    return [np.array([word], np.uint32) for word in words(text)]


def words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


def spelled(array: np.ndarray) -> str:
    return " ".join(f"{int(x):0{2 * array.dtype.itemsize}x}" for x in array.reshape(-1))


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ("0 0", "0 0", "6b200159 99ba4efe"),
        ("ffffffff ffffffff", "ffffffff ffffffff", "1cb996fc bb002be7"),
        ("243f6a88 85a308d3", "13198a2e 03707344", "c4923a9c 483df7a0"),
    ],
)
def test_threefry(counter: str, key: str, expected: str):
    """RngBitGenerator, known answers of ThreeFry-2x32."""
    found = threefry(NumpyWords(), words_of(key), words_of(counter))
    assert [int(word[0]) for word in found] == words(expected)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (
            "ffffffff ffffffff ffffffff ffffffff",
            "ffffffff ffffffff",
            "408f276d 41c83b0e a20bc7c6 6d5451fd",
        ),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0",
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox(counter: str, key: str, expected: str):
    """RngBitGenerator, known answers of Philox-4x32."""
    found = philox(NumpyWords(), words_of(key), words_of(counter))
    assert [int(word[0]) for word in found] == words(expected)


def generate(algorithm: str, state: list[int], result: str) -> Any:
    return evaluate(
        lambda s: RngBitGeneratorOp(
            s,
            algorithm=f"rng_{algorithm}",
            result_types=[shape(f"u64[{len(state)}]"), shape(result)],
        ),
        numbers("u64", state),
    )


TOP = 2**64 - 1
PHILOX_STATE = [0x299F31D0A4093822, 0x85A308D3243F6A88, 0x0370734413198A2E]


@pytest.mark.parametrize(
    ("algorithm", "state", "result", "bits", "new_state"),
    [
        ("three_fry", [1, 0], "u32[4]", "b435a7fa 96eb2785 0ec66872 2d84e7b1", [1, 2]),
        (
            "three_fry",
            [1, 0],
            "u32[2,3]",
            "b435a7fa 0ec66872 0296e954 96eb2785 2d84e7b1 802fd53b",
            [1, 3],
        ),
        (
            "three_fry",
            [1, 0],
            "u32[3,3]",
            "b435a7fa 0ec66872 0296e954 96eb2785 2d84e7b1 802fd53b ed3492d3 63b40bd3 7dbb1d60",
            [1, 6],
        ),
        ("three_fry", [1, 0], "u64[2]", "96eb2785b435a7fa 2d84e7b10ec66872", [1, 2]),
        ("three_fry", [1, 0], "u8[3]", "fa 85 72", [1, 2]),
        ("three_fry", [1, 0], "u4[3]", "0a 05 02", [1, 2]),
        ("three_fry", [1, 0], "u16[2]", "a7fa 2785", [1, 1]),
        ("three_fry", [0, TOP], "u32[4]", "08a8003b 75cb0abb 6b200159 99ba4efe", [0, 1]),
        (
            "three_fry",
            [0x0370734413198A2E, 0x85A308D3243F6A88],
            "u32[2]",
            "c4923a9c 483df7a0",
            [0x0370734413198A2E, 0x85A308D3243F6A89],
        ),
        ("three_fry", [7, 5], "u32[0]", "", [7, 5]),
        ("philox", [1, 0], "u32[5]", "07071c12 428264b6 3909104b 6da2bda2 3b539b4f", [1, 2]),
        ("philox", [1, 0, 0], "u32[5]", "e3e80670 e50a0ebc 95f222c0 b615aa27 ac08141b", [1, 2, 0]),
        (
            "philox",
            [1, 0, 0],
            "u64[3]",
            "e50a0ebce3e80670 b615aa2795f222c0 dfc5ccbeac08141b",
            [1, 2, 0],
        ),
        ("philox", [1, 0, 0], "u8[3]", "70 bc c0", [1, 1, 0]),
        (
            "philox",
            PHILOX_STATE,
            "u32[4]",
            "d16cfe09 94fdcceb 5001e420 24126ea1",
            [PHILOX_STATE[0], PHILOX_STATE[1] + 1, PHILOX_STATE[2]],
        ),
        ("philox", [3, 4, 5], "u64[2,0]", "", [3, 4, 5]),
    ],
)
def test_bits(algorithm: str, state: list[int], result: str, bits: str, new_state: list[int]):
    """Worked examples: docs/generated/worked_examples.md#rng_bit_generator."""
    found_state, found = generate(algorithm, state, result)
    assert spelled(found) == bits
    same(found_state, numbers("u64", new_state))


def test_the_counter_carries():
    """Worked example: docs/generated/worked_examples.md#rng_bit_generator."""
    state, _ = generate("philox", [0, TOP, TOP], "u32[12]")
    same(state, numbers("u64", [0, 2, 0]))


def test_default_is_philox():
    same(generate("default", [1, 2, 3], "u16[3,5]"), generate("philox", [1, 2, 3], "u16[3,5]"))


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("state", ["u32[4]", "u64[1]"])
def test_a_state_that_other_backends_have(backend: Any, state: str):
    """It is read; how numbers come out of it is theirs to say."""
    text = f"ROOT r = ({state}, u32[3]) rng-bit-generator({state} s), algorithm=rng_default"
    message = re.escape(f"the state is {state}, rng_default has u64[2] or more")
    with pytest.raises(XlaError, match=message):
        lowerings.compile(text, backend=backend)(np.zeros(int(state[4]), f"uint{state[1:3]}"))


def test_bits_as_tuple():
    (state, found) = evaluate(
        lambda s: RngBitGeneratorOp(
            s,
            algorithm="rng_three_fry",
            result_types=[tuple_of("u64[2]", "s32[1]")],
        ),
        numbers("u64", [1, 0]),
    )
    same(state, numbers("u64", [1, 1]))
    assert spelled(found.view(np.uint32)) == "b435a7fa"


@pytest.mark.jax
@pytest.mark.parametrize(
    ("algorithm", "count"), [("three_fry", 2), ("philox", 2), ("philox", 3), ("default", 3)]
)
def test_bits_of_xla(algorithm: str, count: int):
    """Shapes of all element types in one program, equal bit by bit."""
    random = np.random.default_rng(count)
    sizes = {"u4": ["5"], "s2": ["2,3"], "u8": ["5", "3,0"], "s16": ["7,9"], "s64": ["", "3,5"]}
    sizes["u32"] = ["", "1", "2,3", "3,4", "3,5,2"]
    types = [f"{t}[{s}]" for t, column in sizes.items() for s in column]
    lines = [
        f"  r{i} = (u64[{count}], {t}) rng-bit-generator(s), algorithm=rng_{algorithm}\n"
        f"  a{i} = u64[{count}] get-tuple-element(r{i}), index=0\n"
        f"  b{i} = {t} get-tuple-element(r{i}), index=1\n"
        for i, t in enumerate(types)
    ]
    names = ", ".join(f"a{i}, b{i}" for i, _ in enumerate(types))
    text = (
        f"HloModule bits\nENTRY main {{\n  s = u64[{count}] parameter(0)\n{''.join(lines)}"
        f"  ROOT all = ({', '.join(f'u64[{count}], {t}' for t in types)}) tuple({names})\n}}\n"
    )
    with jax.enable_x64(True):
        for state in ([0] * count, [TOP] * count, random.integers(0, TOP, count, np.uint64)):
            (found,) = xla_cpu(text, [[np.array(state, np.uint64)]])
            for t, new_state, bits in zip(types, found[::2], found[1::2], strict=True):
                ours = generate(algorithm, [int(n) for n in state], t)
                # XLA's program has forgotten the sign.
                same(ours, (new_state, bits.view(ours[1].dtype)))


def draw(
    distribution: str, a: Any, b: Any, result: str, **options: Any
) -> np.ndarray[Any, np.dtype[Any]]:
    name = result.partition("[")[0]
    return evaluate(
        lambda: RngOp(
            constant(name, a),
            constant(name, b),
            [],
            distribution=f"rng_{distribution}",
            result_types=[shape(result)],
        ),
        **options,
    )


@pytest.mark.parametrize("name", ["f64", "f32", "bf16", "f16"])
def test_normal(name: str):
    """RngNormal: type, shape, finiteness and moments."""
    found = draw("normal", 3, 2, f"{name}[100,200]")
    assert found.dtype == numpy_dtype(BY_NAME[name].type)
    assert found.shape == (100, 200)
    wide = found.astype(np.float64)
    assert np.all(np.isfinite(wide))
    assert abs(np.mean(wide) - 3) < 0.05
    assert abs(np.std(wide) - 2) < 0.05
    assert abs(np.mean(((wide - 3) / 2) ** 4) - 3) < 0.3


def test_normal_without_deviation():
    same(draw("normal", 3, 0, "f32[4]"), numbers("f32", [3] * 4))


def test_negative_deviation():
    with pytest.raises(XlaError, match=r"xla.rng: the standard deviation is -1.0"):
        draw("normal", 0, -1, "f32[4]")


UNIFORM: list[tuple[str, Any, Any, float | None]] = [
    ("f64", -1, 1, 0),
    ("f32", 0, 1, 0.5),
    ("bf16", 100, 102, None),
    ("f16", -5, -4, -4.5),
    ("f8e5m2", 0, 2, None),
    ("s32", -10, 10, -0.5),
    ("u32", 0, 2**32 - 1, 2.0**31),
    ("s64", -(2**63), 2**63 - 1, 0),
    ("u64", 2**63, 2**64 - 1, 1.5 * 2**63),
    ("u8", 250, 255, 252),
    ("s4", -8, 7, -1),
    ("pred", False, True, 0),
]


@pytest.mark.parametrize(("name", "a", "b", "mean"), UNIFORM)
def test_uniform(name: str, a: Any, b: Any, mean: float | None):
    """RngUniform: type, shape, range, and the mean where the type is fine enough."""
    found = draw("uniform", a, b, f"{name}[50,100]")
    assert found.dtype == numpy_dtype(BY_NAME[name].type)
    assert found.shape == (50, 100)
    values = [x.item() for x in found.reshape(-1)]
    assert min(values) >= a
    assert max(values) < b
    if mean is not None:
        assert abs(np.mean(np.array(values, float)) - mean) < 0.03 * (float(b) - float(a))


@pytest.mark.parametrize(("name", "a", "b"), [("f32", 2, 2), ("f32", 2, 1), ("s32", 5, -5)])
def test_empty_interval(name: str, a: int, b: int):
    same(draw("uniform", a, b, f"{name}[3]"), numbers(name, [a] * 3))


def test_nan_bounds_give_nan():
    same(draw("uniform", np.nan, 1, "f32[2]"), numbers("f32", [np.nan] * 2))


def test_seeds():
    """The same seed gives the same numbers; another seed others; two draws differ."""
    first = draw("uniform", 0, 1, "f64[5]", seed=1)
    same(draw("uniform", 0, 1, "f64[5]", seed=1), first)
    assert not np.any(draw("uniform", 0, 1, "f64[5]", seed=2) == first)

    def twice() -> Any:
        bounds = constant("f64", 0), constant("f64", 1)
        return [
            RngOp(*bounds, [], distribution="rng_uniform", result_types=[shape("f64[5]")])
            for _ in range(2)
        ]

    one, two = evaluate(twice)
    assert not np.any(one == two)


@given(st.lists(st.integers(0, 4), max_size=3), st.integers(0, TOP), st.integers(0, TOP))
def test_bits_of_a_prefix(sizes: list[int], key: int, counter: int):
    """Philox does not look at the shape."""
    _, array = random_bits(RandomAlgorithm.PHILOX, [key, counter], sizes, np.dtype(np.uint32))
    _, stream = random_bits(RandomAlgorithm.PHILOX, [key, counter], [64], np.dtype(np.uint32))
    same(array.reshape(-1), stream[: array.size])


def test_global_state():
    first, second = evaluate(
        lambda: [RngGetAndUpdateStateOp(delta=-0x7012396), RngGetAndUpdateStateOp(delta=1)]
    )
    same(first, numbers("u64", [0x7012395, 0]))
    same(second, numbers("u64", [TOP, TOP]))


@pytest.mark.jax
def test_global_state_of_xla():
    text = "HloModule m\nENTRY main {\n  ROOT s = u64[2] rng-get-and-update-state(), delta=4\n}\n"
    with jax.enable_x64(True):
        ((theirs,),) = xla_cpu(text, [[]])
    same(evaluate(lambda: RngGetAndUpdateStateOp(delta=4)), theirs)


def chances(name: str, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Floats of all magnitudes, special ones first, and random bits of their width."""
    dtype, generator = numpy_dtype(BY_NAME[name].type), np.random.default_rng(seed)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    bits = generator.integers(0, np.iinfo(unsigned).max, (2, count), unsigned, endpoint=True)
    with np.errstate(over="ignore"):
        near_one = (4 * generator.normal(size=count // 2)).astype(dtype)
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 127.5, -127.5, -128.5]).astype(
            dtype
        )
    x = np.concatenate([special, near_one, bits[0].view(dtype)])[:count]
    return x, bits[1]


@pytest.mark.jax
@pytest.mark.parametrize("source", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("target", ["s8", "s16", "s32"])
def test_stochastic_convert_of_xla(source: str, target: str):
    """XLA CPU has signed integers only."""
    x, r = chances(source, 2000, 1)
    text = (
        f"HloModule m\nENTRY e {{\n  x = {source}[2000] parameter(0)\n"
        f"  r = u{8 * r.itemsize}[2000] parameter(1)\n"
        f"  ROOT y = {target}[2000] stochastic-convert(x, r)\n}}\n"
    )
    with jax.enable_x64(True):
        ((theirs,),) = xla_cpu(text, [[x, r]])
    result = shape(f"{target}[2000]")
    same(evaluate(lambda x, r: StochasticConvertOp(x, r, result_types=[result]), x, r), theirs)


@pytest.mark.parametrize(
    ("source", "target"),
    [("f32", "bf16"), ("f32", "f16"), ("f64", "f32"), ("bf16", "f16"), ("f32", "f8e5m2")],
)
def test_stochastic_convert_to_floats(source: str, target: str):
    """A neighbour of the operand, the farther one if the chance is less than the distance."""
    x, r = chances(source, 300, 2)
    dtype = numpy_dtype(BY_NAME[target].type)
    result = shape(f"{target}[300]")
    found = evaluate(lambda x, r: StochasticConvertOp(x, r, result_types=[result]), x, r)
    # All finite numbers of the result that are not negative ascend as their bits do.
    unsigned = np.dtype(f"u{dtype.itemsize}")
    for value, chance, got in zip(x, r, found, strict=True):
        if not np.isfinite(value):
            assert np.isnan(got) if np.isnan(value) else got == value
            continue
        exact = abs(Fraction(float(value)))
        with np.errstate(over="ignore"):
            code = int(np.abs(value).astype(dtype).view(unsigned))

        def number(code: int) -> Any:
            return unsigned.type(code).view(dtype)

        if not np.isfinite(number(code)) or Fraction(float(number(code))) > exact:
            code -= 1
        low, before = Fraction(float(number(code))), Fraction(float(number(max(code - 1, 0))))
        high = number(code + 1)
        gap = Fraction(float(high)) - low if np.isfinite(high) else low - before
        up = int(chance) < (exact - low) / gap * 2 ** (8 * r.itemsize) // 1
        expected = number(code + 1) if up else number(code)
        assert abs(got) == expected, (value, chance, got)
        assert np.signbit(got) == np.signbit(value)
