"""Programs that are split over 2, 4 and 8 devices, on the reference, on threads and on ranks."""

from pathlib import Path

import pytest
from partitioned_outcomes import run_everywhere

pytestmark = [
    pytest.mark.jax,
    pytest.mark.flax,
    pytest.mark.mpi,
    pytest.mark.filterwarnings("ignore::lowerings.partitioning.partition_warning.PartitionWarning"),
]


@pytest.mark.parametrize(
    ("count", "names"),
    [
        pytest.param(2, ("mlp_step uneven",), id="2 devices, one"),
        *(pytest.param(n, (), id=f"{n} devices", marks=pytest.mark.full) for n in (2, 4, 8)),
    ],
)
def test_all_executors_agree(count: int, names: tuple[str, ...], tmp_path: Path) -> None:
    """Right beside JAX; machine code gives the same bits on threads and on ranks."""
    outcomes = run_everywhere(count, tmp_path, names)
    assert outcomes
    assert not [outcome for outcome in outcomes if not outcome.is_right]
