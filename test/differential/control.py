"""Steps with computations of their own, and random bits."""

from typing import Any

from differential.draft import Draft, row_of
from differential.elements import BINARY, Step, methods
from xla_dialect.builder import XlaValue
from xla_dialect.types import ElementClass

NUMBER = ElementClass.NUMBER


def a_little(d: Draft) -> Any:
    """A function of one value to one of the same type."""
    return d.choose((d.b.neg, lambda v: v + 1, lambda v: v * v, lambda v: v - 1))


def while_(d: Draft) -> tuple[XlaValue, ...]:
    x = d.of(NUMBER & ~ElementClass.COMPLEX)
    count, body = d.integer(0, 3), a_little(d)
    outer = d.beside(x)
    return d.b.while_(
        lambda k, _: k < count,
        lambda k, y: (k + 1, d.b.sub(body(y), outer)),
        [d.b.constant(0), x],
    )


def conditional(d: Draft) -> XlaValue:
    x = d.of(NUMBER & ~ElementClass.COMPLEX)
    index = d.b.constant(d.integer(-1, 3))
    return d.b.conditional(index, [a_little(d) for _ in range(3)], [x] * 3)


def call(d: Draft) -> XlaValue:
    x = d.of(NUMBER & ~ElementClass.COMPLEX)
    body = a_little(d)
    return d.b.call(lambda y: d.b.call(body, [y]) + 1, [x])


def map_(d: Draft) -> XlaValue:
    x = d.of(NUMBER)
    y = d.beside(x)
    name = d.choose([m for m in methods(BINARY, x) if m in ("add", "sub", "mul", "max", "min")])
    function = getattr(d.b, name)
    return d.b.map([x, y], lambda u, v: function(v, u))


def random_bits(d: Draft) -> tuple[XlaValue, ...]:
    state = d.parameter("u64", [2])
    name = d.choose(("u8", "u16", "u32", "u64"))
    return d.b.rng_bit_generator("rng_three_fry", state, f"{name}[{d.integer(1, 9)}]")


def pair(d: Draft) -> XlaValue:
    x, y = d.pick(), d.pick()
    return d.b.tuple([x, y])[d.integer(0, 1)]


def barrier(d: Draft) -> XlaValue:
    return d.b.optimization_barrier(d.pick(lambda v: row_of(v).bits >= 8))


STEPS: tuple[Step, ...] = (while_, conditional, call, map_, random_bits, pair, barrier)
