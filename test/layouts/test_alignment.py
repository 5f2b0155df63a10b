"""Operations that are computed in memory order, as it follows from how their dimensions relate."""

from collections import Counter
from typing import Any, cast

import numpy as np
import pytest
from executed_operations import executed
from xdsl.utils.test_value import create_ssa_value

from lowerings.layouts.alignment import alignment_of, is_computable, relisted, renumbered
from lowerings.layouts.memory_order import MemoryOrder
from xla_dialect.types import Array, array


def random_order(rng: np.random.Generator, array: np.ndarray) -> MemoryOrder:
    return MemoryOrder(tuple(int(d) for d in rng.permutation(array.ndim)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operations_on_arrays_in_memory_order_are_the_operations() -> None:
    """With dimensions numbered otherwise, transposed operands give the transposed results."""
    rng = np.random.default_rng(0)
    computed: Counter[str] = Counter()
    for each in executed():
        alignment = alignment_of(each.op)
        if alignment is None:
            continue
        results = each.results(each.operands)
        arrays = (*each.operands, *results)
        count = len(each.operands)
        for _ in range(3):
            found = [random_order(rng, x) for x in arrays]
            if not alignment.is_free:
                lead = found[alignment.leader]
                found = [alignment.follow(number, lead) for number in range(len(arrays))]
            if all(order.is_default for order in found) or not is_computable(each.op, found):
                continue
            values: list[Any] = [
                create_ssa_value(
                    array(cast(Array, v.type).element_type, x.transpose(o.major_to_minor).shape)
                )
                for v, x, o in zip(
                    (*each.op.operands, *each.op.results), arrays, found, strict=True
                )
            ]
            moved = [x.transpose(o.major_to_minor) for x, o in zip(arrays, found, strict=True)]
            new = type(each.op).create(
                operands=relisted(each.op, values[:count], found),
                result_types=[v.type for v in values[count:]],
                properties=renumbered(each.op, found),
                regions=[region.clone() for region in each.op.regions],
            )
            new.verify()
            order = [values.index(operand) for operand in new.operands]
            again = each.interpreter.run_op(new, tuple(moved[i] for i in order))
            for mine, theirs in zip(again, moved[count:], strict=True):
                np.testing.assert_allclose(
                    np.asarray(mine).astype(complex), theirs.astype(complex), 1e-2, 1e-2
                )
            computed[each.op.name] += 1
    assert len(computed) > 60
