"""Equal parts of a program become functions, and nothing changes for who runs it."""

import random
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from peers import has_jax
from sweeps import few_examples

import lowerings
from lowerings.backends import Options
from lowerings.compilation import compile_source
from lowerings.driver.program import parse_source
from lowerings.driver.source import Source
from xla_dialect.diagnostics import LocatedError
from xla_dialect.stablehlo.outlining import FEWEST_LINES, outline_equal_parts

if has_jax():
    import jax
    import jax.numpy as jnp

SIZE = "tensor<4x3xf32>"
BINARY = ("add", "multiply", "subtract", "maximum")


def calls_in(text: str) -> int:
    return text.count("func.call @outlined_")


class RandomUpdates:
    """A program that updates many arrays alike, with some uses of values across the updates."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = self.random.randint(8, 14)
        self.shared = [f"%s{n}" for n in range(2)]
        self.results: list[str] = []
        self.donated: dict[str, int] = {}

    def emit(self, text: str) -> str:
        name = f"%{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        return name

    def update(self, plan: random.Random, a: str, b: str, others: list[str]) -> list[str]:
        """One update by a plan that is the same for all; now and then it reads another's value."""
        values = [a, b]
        for _ in range(plan.randint(24, 40)):
            first, second = (plan.choice(values[-6:]) for _ in range(2))
            match plan.randrange(6):
                case 0:
                    number = plan.choice(("0.5", "-1.25", "2.0"))
                    c = self.emit(f"stablehlo.constant dense<{number}> : tensor<f32>")
                    second = self.spread(c)
                case 1:
                    second = self.spread(plan.choice(self.shared))
                case 2:
                    p = self.emit(
                        f"stablehlo.compare LT, {first}, {second}, FLOAT : "
                        f"({SIZE}, {SIZE}) -> tensor<4x3xi1>"
                    )
                    values.append(
                        self.emit(
                            f"stablehlo.select {p}, {second}, {first} : tensor<4x3xi1>, {SIZE}"
                        )
                    )
                    continue
                case 3:
                    values.append(self.emit(f"stablehlo.tanh {first} : {SIZE}"))
                    continue
                case _:
                    pass
            if others and self.random.random() < 0.003:
                second = self.random.choice(others)
            values.append(self.emit(f"stablehlo.{plan.choice(BINARY)} {first}, {second} : {SIZE}"))
        return values

    def spread(self, scalar: str) -> str:
        return self.emit(
            f"stablehlo.broadcast_in_dim {scalar}, dims = [] : (tensor<f32>) -> {SIZE}"
        )

    def text(self) -> str:
        seed = self.random.random()
        parameters = [f"%a{n}" for n in range(2 * self.count)]
        others: list[str] = []
        for n in range(self.count):
            a, b = parameters[2 * n : 2 * n + 2]
            values = self.update(random.Random(seed), a, b, others)
            for value in (values[-1], values[len(values) // 2]):
                if value not in self.results and value.removeprefix("%").isdigit():
                    self.results.append(value)
            others.append(self.random.choice(values))
            if self.random.random() < 0.5:
                self.donated[parameters[2 * n]] = self.results.index(values[-1])
        arguments = [
            f"{name}: {SIZE}"
            + (
                f" {{tf.aliasing_output = {self.donated[name]} : i32}}"
                if name in self.donated
                else ""
            )
            for name in parameters
        ]
        arguments += [f"{name}: tensor<f32>" for name in self.shared]
        types = ", ".join([SIZE] * len(self.results))
        return "\n".join(
            (
                "module @updates {",
                f"  func.func public @main({', '.join(arguments)}) -> ({types}) {{",
                *self.lines,
                f"    return {', '.join(self.results)} : {types}",
                "  }",
                "}",
                "",
            )
        )


@few_examples(4, 10)
@given(st.integers(0, 2**32))
@example(3)
def test_results_stay_the_same(seed: int):
    updates = RandomUpdates(seed)
    text = updates.text()
    outlined = outline_equal_parts(text)
    assert calls_in(outlined) > 1
    assert len(outlined) < len(text)
    generator = np.random.default_rng(seed)
    arrays = [generator.normal(size=(4, 3)).astype(np.float32) for _ in range(2 * updates.count)]
    arguments = [*arrays, np.float32(0.75), np.float32(-1.5)]
    expected = lowerings.compile(text, backend="reference")(*arguments)
    for backend in ("reference", "interpreter"):
        for found, wanted in zip(
            lowerings.compile(outlined, backend=backend)(*arguments), expected, strict=True
        ):
            np.testing.assert_array_equal(found, wanted)
    options = Options(donate="aliased")
    whole = compile_source(Source(text, input_format="stablehlo"), options)
    parts = compile_source(Source(text, input_format="stablehlo", outlined=True), options)
    assert dict(parts.signature.aliases) == dict(whole.signature.aliases)
    for found, wanted in zip(
        parts(*(np.array(each) for each in arguments)),
        whole(*(np.array(each) for each in arguments)),
        strict=True,
    ):
        np.testing.assert_array_equal(found, wanted)


def updates_of(count: int, line: str = "", size: str = SIZE) -> str:
    """So many equal updates, each of seven lines, and perhaps another one in the last of them."""
    body: list[str] = []
    for n in range(count):
        values = [f"%a{n}", *(f"%v{n}_{k}" for k in range(7))]
        body += [
            f"    {after} = stablehlo.add {before}, {before} : {size}"
            for before, after in pairwise(values)
        ]
    results = [f"%v{n}_6" for n in range(count)]
    if line:
        body.append(f"    %more = {line}")
        results.append("%more")
    types = ", ".join([size] * len(results))
    arguments = ", ".join(f"%a{n}: {size}" for n in range(count))
    return "\n".join(
        (
            "module @m {",
            f"  func.func public @main({arguments}) -> ({types}) {{",
            *body,
            f"    return {', '.join(results)} : {types}",
            "  }",
            "}",
        )
    )


def test_short_programs_stay():
    count = (FEWEST_LINES - 6) // 7
    assert outline_equal_parts(updates_of(count)) == updates_of(count)
    assert calls_in(outline_equal_parts(updates_of(count + 2))) == count + 2


def test_what_is_used_elsewhere_stays():
    """The result of one update goes into a product: that update is not called."""
    product = (
        "stablehlo.dot_general %v0_6, %v1_6, contracting_dims = [1] x [0], "
        "precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"
    )
    outlined = outline_equal_parts(updates_of(60, product, "tensor<4x4xf32>"))
    assert calls_in(outlined) == 58
    assert "func.call @outlined_0(%a1)" not in outlined


def test_what_all_use_is_computed_once():
    """The two scalars that every update uses stay where they are, and are given to the calls."""
    lines = [
        "    %c = stablehlo.constant dense<2.0> : tensor<f32>",
        "    %t = stablehlo.multiply %s, %c : tensor<f32>",
    ]
    for n in range(60):
        # Each has lines of its own for what all of them compute.
        lines += [
            f"    %c{n} = stablehlo.constant dense<2.0> : tensor<f32>",
            f"    %t{n} = stablehlo.multiply %s, %c{n} : tensor<f32>",
            f"    %b{n} = stablehlo.broadcast_in_dim %t{n}, dims = [] : (tensor<f32>) -> {SIZE}",
            f"    %v{n} = stablehlo.multiply %a{n}, %b{n} : {SIZE}",
            f"    %w{n} = stablehlo.add %v{n}, %a{n} : {SIZE}",
        ]
    arguments = ", ".join(["%s: tensor<f32>", *(f"%a{n}: {SIZE}" for n in range(60))])
    types = ", ".join([SIZE] * 60)
    text = "\n".join(
        (
            "module @m {",
            f"  func.func public @main({arguments}) -> ({types}) {{",
            *lines,
            f"    return {', '.join(f'%w{n}' for n in range(60))} : {types}",
            "  }",
            "}",
        )
    )
    outlined = outline_equal_parts(text)
    assert calls_in(outlined) == 60
    assert outlined.count("stablehlo.multiply %s") == 1
    assert outlined.count("stablehlo.multiply") == 2


def test_parts_for_threads_are_called_together():
    """An array of 1 MB is too little for several threads: one call updates two of 2 MB in all."""
    assert calls_in(outline_equal_parts(updates_of(60, size="tensor<512x512xf32>"))) == 30
    assert calls_in(outline_equal_parts(updates_of(60, size="tensor<2048x2048xf32>"))) == 60


@pytest.mark.parametrize(
    "types",
    ["tensor<?x3xf32>", "tensor<3x!quant.uniform<i8:f32, 0.5>>", "tensor<4x3xf32, #note>"],
)
def test_other_types_stay(types: str):
    text = updates_of(60, size=types)
    assert outline_equal_parts(text) == text


def test_lines_keep_their_places():
    """What is no part stands in the line in which it was."""
    text = updates_of(60, f"stablehlo.slice %a0 [0:4, 0:3] : ({SIZE}) -> {SIZE}")
    lines, outlined = text.split("\n"), outline_equal_parts(text).split("\n")
    kept = [number for number, line in enumerate(outlined[: len(lines)]) if line == lines[number]]
    (place,) = (number for number, line in enumerate(lines) if "stablehlo.slice" in line)
    assert {0, 1, place, len(lines) - 2} <= set(kept)
    assert outlined[place + 1].startswith("    return ")


def test_strings_stay_as_they_are():
    """A name in a string is no value, even where a duplicate has that name."""
    note = '{mhlo.note = "%w, \\"%w"}'
    text = updates_of(60, f"stablehlo.custom_call @f(%w) {note} : ({SIZE}) -> {SIZE}")
    twice = f"    %w = stablehlo.add %a0, %a0 : {SIZE}\n    %more"
    outlined = outline_equal_parts(text.replace("    %more", twice, 1))
    assert f"stablehlo.custom_call @f(%v0_0) {note}" in outlined


def test_errors_name_lines_as_given():
    """The fault is in the last line but three of a program whose equal parts are functions."""
    wrong = updates_of(60, f"stablehlo.add %a0, %v1_0 : {SIZE}").replace(
        "%a3: tensor<4x3", "%a3: tensor<4x2"
    )
    assert calls_in(outline_equal_parts(wrong)) > 50
    with pytest.raises(LocatedError) as given_whole:
        parse_source(Source(wrong, input_format="stablehlo"))
    with pytest.raises(LocatedError) as outlined:
        parse_source(Source(wrong, input_format="stablehlo", outlined=True))
    assert str(outlined.value) == str(given_whole.value)


def chain(count: int, type_: str, step: str) -> str:
    """`%x` changed so many times by a step of several lines, `{0}` before and `{1}` after it."""
    values = ["%x", *(f"%v{n}" for n in range(count))]
    lines = [step.format(before, after, type_) for before, after in pairwise(values)]
    head = f"  func.func public @main(%x: {type_}, %y: {type_}) -> {type_} {{"
    last = f"    return {values[-1]} : {type_}"
    return "\n".join(("module @m {", head, *lines, last, "  }", *WHERE, "}"))


WHERE = """\
  func.func private @where(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }""".split("\n")

NEXT = "    {1} = chlo.next_after {0}, %y : {2}, {2} -> {2}"
STEP = """\
    {1}c = stablehlo.constant dense<0.25> : {2}
    {1}d = stablehlo.subtract %y, {1}c : {2}
    {1}e = stablehlo.multiply {0}, {1}d : {2}
    {1}f = stablehlo.add {1}e, {1}e : {2}
    {1}g = stablehlo.sine {1}f : {2}
    {1}h = stablehlo.compare LT, {1}g, %y : ({2}, {2}) -> tensor<i1>
    {1}i = call @where({1}h, {1}g, {1}e) : (tensor<i1>, {2}, {2}) -> {2}
    {1}j = stablehlo.maximum {1}i, {1}d : {2}
    {1}k = stablehlo.abs {1}j : {2}
    {1} = stablehlo.add {1}k, {1}g : {2}"""


@pytest.mark.parametrize(("step", "count"), [(NEXT, 130), (STEP, 15)])
def test_runs_of_scalars_are_called(step: str, count: int):
    """A period is a function; the first one, or what the cut leaves in front of it, stays."""
    text = chain(count, "tensor<f32>", step)
    outlined = outline_equal_parts(text)
    assert count - 2 <= calls_in(outlined) <= count
    (function,) = re.findall(r"(@outlined_\d+)\(.*no_inline", outlined)
    assert f"func.call {function}(" in outlined
    assert outlined.count("stablehlo.subtract") <= 2
    for x, y in ((np.float32(-1e-45), np.float32(1)), (np.float32(0.75), np.float32(-2))):
        for backend in ("reference", "llvm"):
            (expected,) = lowerings.compile(text, backend=backend)(x, y)
            (found,) = lowerings.compile(outlined, backend=backend)(x, y)
            np.testing.assert_array_equal(found, expected)
            assert np.signbit(found) == np.signbit(expected)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        # What stands between, and uses a value, ends the run.
        (
            "    {1}l = stablehlo.broadcast_in_dim {1}g, dims = [] : (tensor<f32>) -> tensor<3xf32>\n"
            "    {1}m = stablehlo.custom_call @f({1}l) : (tensor<3xf32>) -> tensor<1xf32>",
            0,
        ),
        (
            "    {1}l = stablehlo.broadcast_in_dim {1}g, dims = [] : (tensor<f32>) -> tensor<3xf32>",
            13,
        ),
        ("    {1}l = stablehlo.slice %z [0:1] : (tensor<3xf32>) -> tensor<1xf32>", 0),
        ("    {1}l = stablehlo.constant dense<1.0> : tensor<3xf32>", 13),
    ],
)
def test_what_ends_a_run(line: str, count: int):
    before, _, last = STEP.rpartition("\n")
    text = chain(15, "tensor<f32>", "\n".join((before, line, last)))
    assert count <= calls_in(outline_equal_parts(text)) <= (15 if count else 0)


def test_runs_of_arrays_stay():
    text = chain(130, "tensor<2xf32>", NEXT)
    assert outline_equal_parts(text) == text


LAYER = """\
    {1}z = stablehlo.constant dense<0.0> : tensor<f32>
    {1}a = stablehlo.reduce({0} init: {1}z) applies stablehlo.add across dimensions = [1] : ({2}, \
tensor<f32>) -> tensor<4xf32>
    {1}b = stablehlo.broadcast_in_dim {1}a, dims = [0] : (tensor<4xf32>) -> {2}
    {1}c = stablehlo.subtract {0}, {1}b : {2}
    {1}d = stablehlo.dot_general {1}c, %y, contracting_dims = [1] x [0] : ({2}, {2}) -> {2}
    {1}e = stablehlo.tanh {1}d : {2}
    {1}f = stablehlo.multiply {1}e, {1}e : {2}
    {1}g = stablehlo.sine {1}f : {2}
    {1}h = stablehlo.maximum {1}g, {1}d : {2}
    {1} = stablehlo.add {1}h, {0} : {2}"""


@pytest.mark.parametrize(
    ("old", "new", "last", "count"),
    [
        ("", "", "", 15),
        # Kept for others, as the backward layers of a gradient would need it.
        ("", "", "    %w{0} = stablehlo.negate %v{0}g : {1}\n", 0),
        # What is copied stands among the lines of one, and is used by the next.
        ("{1}g, {1}d", "{1}b, {1}d", "", 0),
        # No contraction, in front of which nothing is fused.
        (
            "stablehlo.dot_general {1}c, %y, contracting_dims = [1] x [0]",
            "chlo.broadcast_next_after {1}c, %y",
            "",
            0,
        ),
    ],
)
def test_layers_are_called(old: str, new: str, last: str, count: int):
    type_ = "tensor<4x4xf32>"
    text = chain(16, type_, LAYER.replace(old, new) if old else LAYER)
    others = "".join(last.format(n, type_) for n in range(16))
    outlined = outline_equal_parts(text.replace("    return %v15", f"{others}    return %v15"))
    assert calls_in(outlined) == count
    if count:
        (body,) = re.findall(r"private @outlined_0\(.*?\{\n(.*?)\n  \}", outlined, re.DOTALL)
        assert "dot_general" in body.split("\n")[0]
        x, y = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
        (expected,) = lowerings.compile(text, backend="reference")(x, y)
        (found,) = lowerings.compile(outlined, backend="reference")(x, y)
        np.testing.assert_array_equal(found, expected)


UPDATE = """\
    {0}p = stablehlo.multiply %y, {0}e : {1}
    {0}q = stablehlo.sine {0}p : {1}
    {0}r = stablehlo.tanh {0}q : {1}
    {0}s = stablehlo.add {0}r, %y : {1}
    {0}t = stablehlo.abs {0}s : {1}
    {0}u = stablehlo.negate {0}q : {1}
"""
"""What is computed last, of a value of the update, nothing uses."""


def test_layers_and_their_updates_are_called():
    """What a layer updates, as the statistics of a normalization, is behind its call."""
    type_ = "tensor<4x4xf32>"
    before, end, behind = LAYER.partition("    {1}g =")
    text = chain(16, type_, before + UPDATE.format("{1}", "{2}") + end + behind)
    results = ", ".join(("%v15", *(f"%v{n}t" for n in range(16))))
    types = ", ".join([type_] * 17)
    text = text.replace(f") -> {type_} {{", f") -> ({types}) {{", 1)
    text = text.replace(f"return %v15 : {type_}", f"return {results} : {types}")
    outlined = outline_equal_parts(text)
    assert calls_in(outlined) == 16 + 14
    x, y = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
    expected = lowerings.compile(text, backend="reference")(x, y)
    found = lowerings.compile(outlined, backend="reference")(x, y)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


RESIDUAL = """\
    {1}d = stablehlo.dot_general {0}, %y, contracting_dims = [1] x [0] : ({2}, {2}) -> {2}
    {1}e = stablehlo.tanh {1}d : {2}
    {1}f = stablehlo.multiply {1}e, {1}e : {2}
    {1}g = stablehlo.sine {1}f : {2}
    {1}h = stablehlo.maximum {1}g, {1}d : {2}
    {1}i = stablehlo.abs {1}h : {2}
    {1}j = stablehlo.negate {1}i : {2}
    {1} = stablehlo.add {1}j, {0} : {2}"""


def test_the_end_of_a_layer_may_use_the_one_before():
    """A layer adds what it got to its result last; that is not kept for others."""
    text = chain(16, "tensor<4x4xf32>", RESIDUAL)
    assert calls_in(outline_equal_parts(text)) == 16


@pytest.mark.jax
def test_programs_of_jax():
    """Of a step with a model in front, the updates are called; the text is JAX's."""

    def step(weights, moments, x):
        def loss(weights):
            y = x
            for w in weights:
                y = jnp.tanh(y @ w)
            return jnp.mean(y**2)

        gradients = jax.grad(loss)(weights)
        moments = [0.9 * m + 0.1 * g for m, g in zip(moments, gradients, strict=True)]
        return [w - 0.1 * m for w, m in zip(weights, moments, strict=True)], moments

    weights = [jnp.full((4, 4), 0.1 * n) for n in range(40)]
    text = jax.jit(step).lower(weights, weights, jnp.ones((2, 4))).as_text()
    outlined = outline_equal_parts(text)
    assert calls_in(outlined) >= 39
    (body,) = re.findall(r"@outlined_0\(.*?\{\n(.*?)\n  \}", outlined, re.DOTALL)
    assert body.count("stablehlo.multiply") == 3
    arguments = [np.asarray(each) for each in (*weights, *weights, np.ones((2, 4), np.float32))]
    for found, wanted in zip(
        lowerings.compile(outlined)(*arguments), lowerings.compile(text)(*arguments), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
