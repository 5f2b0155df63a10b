"""Making a failing program small: fewer operations first (delta debugging), then smaller arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from differential.draft import ROWS, Array, random_array
from differential.judging import Executor, differences
from differential.rewriting import operations, resize, without
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import element_type_of
from xla_dialect.verification import verify


@dataclass(frozen=True)
class Failure:
    """A program on which an executor fails, and how."""

    module: ModuleOp
    arguments: Sequence[Array]
    kinds: frozenset[str]
    """The operations that differ, or the class of the error."""
    message: str

    def report(self, seed: int) -> str:
        """What to show: the failure, the program, and its inputs."""
        if self.has_inputs_of(seed):
            inputs = f"inputs: random_array(element type, sizes, ({seed}, number))"
        else:
            arrays = "\n".join(repr(array) for array in self.arguments)
            inputs = f"inputs:\n{arrays}"
        return f"{self.message}\nseed {seed}\n{self.module}\n{inputs}"

    def has_inputs_of(self, seed: int) -> bool:
        """Whether the arguments are those that `random_array` makes of the seed."""
        return all(
            mine.tobytes() == theirs.tobytes()
            for mine, theirs in zip(self.arguments, seeded(self.arguments, seed), strict=True)
        )


def failure_of(module: ModuleOp, arguments: Sequence[Array], executor: Executor) -> Failure | None:
    """How an executor fails on a program that returns all that it computes."""
    try:
        found = differences(module, arguments, executor)
    except Exception as error:
        kind = f"{type(error).__name__} {str(error)[:40]}"
        return Failure(module, arguments, frozenset((kind,)), f"{type(error).__name__}: {error}")
    if not found:
        return None
    kinds = frozenset(difference.operation.name for difference in found)
    return Failure(module, arguments, kinds, "\n".join(map(str, found)))


def reduced(failure: Failure, executor: Executor, seed: int) -> Failure:
    """A smaller program that fails in the same way, from which no single part can be left out."""
    reducer = _Reducer(executor, failure.kinds)
    while True:
        smaller = failure
        for step in (_fewer_operations, _smaller_arrays):
            smaller = step(reducer, smaller)
        if smaller is failure:
            break
        failure = smaller
    return reducer.accept(failure.module, seeded(failure.arguments, seed)) or failure


@dataclass(frozen=True)
class _Reducer:
    executor: Executor
    kinds: frozenset[str]

    def accept(self, module: ModuleOp, arguments: Sequence[Array]) -> Failure | None:
        """The program as a failure, if it is valid and fails in one of the same ways."""
        try:
            verify(module)
        except XlaError:
            return None
        found = failure_of(module, arguments, self.executor)
        return found if found is not None and found.kinds & self.kinds else None


def _fewer_operations(reducer: _Reducer, failure: Failure) -> Failure:
    """Leaves out runs of operations, long ones first; what they compute becomes arguments."""
    length = len(operations(failure.module)) - 1
    while length > 0:
        start = 0
        while start < (count := len(operations(failure.module))):
            chosen = range(start, min(start + length, count))
            rest = without(failure.module, failure.arguments, chosen)
            smaller = reducer.accept(*rest) if operations(rest[0]) else None
            if smaller is not None:
                failure = smaller
            else:
                start += length
        length //= 2
    return failure


def _smaller_arrays(reducer: _Reducer, failure: Failure) -> Failure:
    """Makes all dimensions of one size smaller at once, as far as the program stays valid."""
    for old, kept in _parts(failure.arguments):
        try:
            candidate = resize(failure.module, failure.arguments, old, kept)
        except XlaError:
            continue
        if smaller := reducer.accept(*candidate):
            return smaller
    return failure


def _parts(arguments: Sequence[Array]) -> Iterator[tuple[int, range]]:
    """Sizes that there are, the largest first, each with what to keep: less at first."""
    for size in sorted({size for array in arguments for size in array.shape}, reverse=True):
        for new in sorted({1, size // 2, size - 1} & set(range(1, size))):
            yield size, range(new)
            yield size, range(size - new, size)


def seeded(arguments: Sequence[Array], seed: int) -> list[Array]:
    """Random arrays of the same types and sizes."""
    return [
        random_array(ROWS[element_type_of(array.dtype)].name, array.shape, (seed, number))
        for number, array in enumerate(arguments)
    ]
