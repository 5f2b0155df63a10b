"""Dataclasses that are made quickly behave as those of the standard library."""

import dataclasses
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, field
from functools import partial
from typing import Any

import pytest

from lowerings.driver.quick_dataclasses import quick_dataclasses

PLAIN = dataclasses.dataclass
Decorator = Callable[..., Any]


def no_fields(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True)
    class Empty:
        pass

    return [Empty(), Empty()]


def frozen(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True)
    class Point:
        x: float
        y: float = 1.0

    return [Point(0.0), Point(0.0, 1.0), Point(0.0, 2.0), Point(math.nan)]


def mutable(dataclass: Decorator) -> list[Any]:
    @dataclass
    class Cell:
        value: int

    return [Cell(1), Cell(1), Cell(2)]


def by_identity(dataclass: Decorator) -> list[Any]:
    @dataclass(eq=False)
    class Node:
        value: int

    return [Node(1), Node(1)]


def chosen_fields(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True)
    class Named:
        key: int
        note: str = field(default="", compare=False)
        secret: int = field(default=0, repr=False)
        large: tuple[int, ...] = field(default=(), hash=False)

    return [Named(1), Named(1, "x"), Named(1, secret=2), Named(1, large=(1, 2))]


def derived(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True)
    class Base:
        a: int

    @dataclass(frozen=True)
    class Derived(Base):
        b: int

    class Plain(Derived):
        pass

    return [Base(1), Derived(1, 2), Derived(1, 2), Derived(2, 1), Plain(1, 2)]


def own_methods(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True)
    class Modular:
        value: int

        def __eq__(self, other: object) -> bool:
            return self.value % 3 == getattr(other, "value", 0) % 3

        def __hash__(self) -> int:
            return hash(self.value % 3)

        def __repr__(self) -> str:
            return f"{self.value} mod 3"

    return [Modular(1), Modular(4), Modular(2)]


def slots(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True, slots=True)
    class Pair:
        first: int
        second: int

    return [Pair(1, 2), Pair(1, 2), Pair(2, 1)]


def ordered(dataclass: Decorator) -> list[Any]:
    @dataclass(order=True)
    class Rank:
        value: int

    return sorted([Rank(2), Rank(1), Rank(2)])


def recursive(dataclass: Decorator) -> list[Any]:
    @dataclass
    class Ring:
        next: Any = None

    ring = Ring()
    ring.next = ring
    return [ring]


def hash_of(value: Any) -> int | str:
    try:
        return hash(value)
    except TypeError as error:
        return str(error)


def assignment(value: Any) -> str:
    """What comes of it."""
    fields = dataclasses.fields(value)
    try:
        setattr(value, fields[0].name if fields else "other", getattr(value, "value", 0))
    except FrozenInstanceError as error:
        return str(error)
    return "done"


def behaviour(dataclass: Decorator, make: Callable[[Decorator], list[Any]]) -> Any:
    values = make(dataclass)
    same_object = [a is b for a in values for b in values]
    equal = [a == b for a, b in ((a, b) for a in values for b in values) if a is not b]
    hashes = [hash_of(each) for each in values]
    # A hash that goes by identity differs in every run.
    by_identity = type(values[0]).__hash__ is object.__hash__
    return (
        same_object,
        equal,
        None if by_identity else hashes,
        [repr(each) for each in values],
        [assignment(each) for each in values],
    )


@pytest.mark.parametrize(
    "make",
    [
        *(no_fields, frozen, mutable, by_identity, chosen_fields),
        *(derived, own_methods, slots, ordered, recursive),
    ],
)
def test_they_compare_hash_and_show_as_they_do_otherwise(
    make: Callable[[Decorator], list[Any]],
) -> None:
    with quick_dataclasses():
        quick = dataclasses.dataclass
        found = behaviour(quick, make)
    assert dataclasses.dataclass is PLAIN is not quick
    assert found == behaviour(PLAIN, make)


def test_classes_of_others_are_made_as_always() -> None:
    """Of other threads meanwhile, and later of modules that were loaded meanwhile."""

    def is_quick() -> bool:
        class Point:
            x: int

        plain = PLAIN(type("Point", (), {"__annotations__": {"x": int}}))
        return vars(quick(Point))["__repr__"].__module__ != vars(plain)["__repr__"].__module__

    with quick_dataclasses():
        quick = partial(dataclasses.dataclass, frozen=True)
        assert is_quick()
        with ThreadPoolExecutor(1) as threads:
            assert not threads.submit(is_quick).result()
    assert not is_quick()
