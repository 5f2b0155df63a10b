"""Plans of the arena: nothing overlaps, and little is wasted."""

import math

from hypothesis import given
from hypothesis import strategies as st

from lowerings.bufferize.arena import ALIGNMENT, Lifetime, Plan, max_live_bytes, plan_arena

LIFETIMES = st.lists(
    st.builds(
        lambda first, length, size: Lifetime(first, first + length, size),
        st.integers(0, 60),
        st.integers(0, 30),
        st.one_of(st.integers(0, 300), st.integers(0, 40_000)),
    ),
    max_size=60,
)


def assert_valid(lifetimes: list[Lifetime], plan: Plan) -> None:
    for a, (lifetime, offset) in enumerate(zip(lifetimes, plan.offsets, strict=True)):
        assert offset % ALIGNMENT == 0
        assert 0 <= offset <= offset + lifetime.size <= plan.size
        for b in range(a):
            other = lifetimes[b]
            if lifetime.first <= other.last and other.first <= lifetime.last:
                apart = (
                    offset + lifetime.size <= plan.offsets[b]
                    or plan.offsets[b] + other.size <= offset
                )
                assert apart, (a, b)


@given(LIFETIMES)
def test_buffers_that_are_live_together_do_not_overlap(lifetimes: list[Lifetime]):
    assert_valid(lifetimes, plan_arena(lifetimes))


@given(LIFETIMES)
def test_the_arena_is_within_the_bound_of_first_fit(lifetimes: list[Lifetime]):
    sizes = [-(-lifetime.size // ALIGNMENT) for lifetime in lifetimes if lifetime.size]
    size, most = plan_arena(lifetimes).size, max_live_bytes(lifetimes)
    assert most <= size
    if sizes:
        assert size <= most * (1 + math.log2(max(sizes) / min(sizes)))


@given(LIFETIMES)
def test_equal_sizes_waste_nothing(lifetimes: list[Lifetime]):
    equal = [Lifetime(lifetime.first, lifetime.last, 100) for lifetime in lifetimes]
    assert plan_arena(equal).size == max_live_bytes(equal)


def test_most_live_bytes_are_counted_at_one_position():
    lifetimes = [Lifetime(0, 2, 1), Lifetime(2, 4, 64), Lifetime(3, 9, 65), Lifetime(9, 9, 0)]
    assert max_live_bytes(lifetimes) == 192
    assert max_live_bytes([]) == plan_arena([]).size == 0


def test_many_buffers_are_planned_in_about_linear_time():
    """20,000 of them: a quadratic planner would take minutes."""
    lifetimes = [Lifetime(i, i + i % 17, 64 * (1 + i * 7919 % 101)) for i in range(20_000)]
    plan = plan_arena(lifetimes)
    assert plan.size <= 1.4 * max_live_bytes(lifetimes)
