"""Worked examples of scatter, its definition index by index, and random scatters beside XLA."""

import itertools
from typing import Any

import numpy as np
import pytest
from hlo_examples import (
    Operands,
    binary,
    last_of_two,
    of_jax,
    on_reference,
    on_xla,
    program,
    spelled,
)
from hypothesis import given
from hypothesis import strategies as st
from peers import has_jax
from small_programs import numbers, same
from sweeps import each_or_full

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import BY_NAME, ElementClass

if has_jax():
    import jax
    import jax.numpy as jnp

NINE = numbers("s32", np.arange(1, 10).reshape(3, 3))
UPDATES = numbers("s32", [[10, 20, 30], [70, 80, 90]])
ROWS = (
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1"
)
BOXES = (
    "update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, "
    "index_vector_dim=1"
)
REVERSED = """second_minus_first {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] subtract(b, a)
}
"""
COMPUTATIONS = binary("add", "s32") + last_of_two("s32") + REVERSED


def scatter(
    label: str, o: Any, i: Any, u: Any, attributes: str, expected: Any, to_apply: str = "second"
) -> Any:
    operands = {"o": o, "i": i, "u": u}
    text = f"{spelled(o)} scatter(o, i, u), {attributes}, to_apply={to_apply}"
    return pytest.param(
        program(text, operands, COMPUTATIONS), operands, (numbers("s32", expected),), id=label
    )


def rows(label: str, i: list[int], expected: Any, to_apply: str = "second", name: str = "s32"):
    return scatter(label, NINE, numbers(name, i), UPDATES, ROWS, expected, to_apply)


def box(label: str, i: list[list[int]], expected: Any):
    updates = numbers("s32", [[[100, 200], [300, 400]]])
    return scatter(label, NINE, numbers("s32", i), updates, BOXES, expected)


EXAMPLES = [
    rows("overwrite", [0, 2], [[10, 20, 30], [4, 5, 6], [70, 80, 90]]),
    rows("add", [0, 2], [[11, 22, 33], [4, 5, 6], [77, 88, 99]], "add"),
    rows("twice", [1, 1], [[1, 2, 3], [84, 105, 126], [7, 8, 9]], "add"),
    rows("outside", [2, 5], [[1, 2, 3], [4, 5, 6], [17, 28, 39]], "add"),
    box("partly outside", [[2, 1]], NINE),
    box("inside", [[1, 1]], [[1, 2, 3], [4, 100, 200], [7, 300, 400]]),
    box("negative", [[-1, 0]], NINE),
    rows("example 6", [-1, 0], [[70, 80, 90], [4, 5, 6], [7, 8, 9]]),
    rows("unsigned", [2**32 - 1, 0], [[70, 80, 90], [4, 5, 6], [7, 8, 9]], name="u32"),
    rows("example 7", [1, 1], [[1, 2, 3], [64, 65, 66], [7, 8, 9]], "second_minus_first"),
    scatter(
        "example 8",
        numbers("s32", [0, 0, 0, 0]),
        numbers("s32", [[2], [-1], [0]]),
        NINE,
        "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
        "index_vector_dim=1",
        [7, 8, 9, 0],
    ),
    scatter(
        "example 9",
        numbers("s32", [[0, 1, 2], [3, 4, 5]]),
        numbers("s32", [2, 0]),
        numbers("s32", [90, 80]),
        "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
        "input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=1",
        [[0, 1, 90], [80, 4, 5]],
    ),
]
EDGES = [
    scatter(
        "a scalar",
        numbers("s32", 5),
        numbers("s32", []),
        numbers("s32", 7),
        "update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, "
        "index_vector_dim=0",
        12,
        "add",
    ),
    scatter(
        "no updates",
        NINE,
        numbers("s32", []),
        numbers("s32", np.zeros((0, 3))),
        ROWS,
        NINE,
    ),
    scatter(
        "nothing to update",
        numbers("s32", np.zeros((0, 3))),
        numbers("s32", [0, -1]),
        UPDATES,
        ROWS,
        np.zeros((0, 3)),
    ),
    rows("far outside", [2**63, 2**64 - 1], NINE, name="u64"),
    rows("just outside", [-(2**63), 2**63 - 1], NINE, name="s64"),
    rows("u2", [3, 1], [[1, 2, 3], [70, 80, 90], [7, 8, 9]], name="u2"),
]


@pytest.mark.parametrize(("text", "operands", "expected"), [*EXAMPLES, *EDGES])
def test_scatter(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    """Worked examples: docs/generated/worked_examples.md#scatter."""
    same(on_reference(text, operands), expected)


@pytest.mark.jax
@pytest.mark.parametrize(("text", "operands", "expected"), EXAMPLES)
def test_examples_on_xla(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    same(on_xla(text, operands), expected)


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ([[2, 1]], [[1, 2, 3], [4, 5, 6], [7, 100, 200]]),
        ([[-1, 0]], [[300, 400, 3], [4, 5, 6], [7, 8, 9]]),
        ([[2**63 - 1, -(2**63)]], NINE),
    ],
)
def test_skipping_elements(starts: Any, expected: Any):
    """By the rule of the StableHLO specification: elements outside are skipped alone."""
    operands = {
        "o": NINE,
        "i": numbers("s64", starts),
        "u": numbers("s32", [[[100, 200], [300, 400]]]),
    }
    text = program(f"s32[3,3] scatter(o, i, u), {BOXES}, to_apply=second", operands, COMPUTATIONS)
    same(on_reference(text, operands, scatter_oob="element"), (numbers("s32", expected),))


def test_unknown_rule():
    (text, operands, _) = EXAMPLES[0].values
    with pytest.raises(ValueError, match="nowhere"):
        on_reference(text, operands, scatter_oob="nowhere")


VARIADIC = """both {
  a = s32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = f32[] parameter(3)
  keep = pred[] compare(b, d), direction=GE
  i = s32[] select(keep, a, c)
  v = f32[] select(keep, b, d)
  ROOT t = (s32[], f32[]) tuple(i, v)
}
"""


def test_variadic():
    """Index and value of the largest update of each place, the first of equal ones."""
    operands = {
        "p": numbers("s32", [-1, -1, -1]),
        "x": numbers("f32", [0, 0, 9]),
        "i": numbers("s32", [0, 1, 0, 0, 2]),
        "n": numbers("s32", range(5)),
        "y": numbers("f32", [1, 5, 7, 7, 8]),
    }
    text = program(
        "(s32[3], f32[3]) scatter(p, x, i, n, y), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both",
        operands,
        VARIADIC,
    )
    found = on_reference(text, operands)
    same(found, (numbers("s32", [2, 1, -1]), numbers("f32", [7, 5, 9])))


def defined(
    inputs: np.ndarray, indices: np.ndarray, updates: np.ndarray, case: dict[str, Any]
) -> np.ndarray:
    """`result = 10 * result + update`, index by index as the operation is defined."""
    result = inputs.copy()
    index_vector_dim = case["index_vector_dim"]
    if index_vector_dim == indices.ndim:
        indices = indices[..., None]
    window_dims, scatter_dims = case["update_window_dims"], case["update_scatter_dims"]
    for place in np.ndindex(updates.shape):
        batch = [place[d] for d in scatter_dims]
        vector = indices[(*batch[:index_vector_dim], slice(None), *batch[index_vector_dim:])]
        start = [0] * inputs.ndim
        for entry, dimension in zip(vector, case["map"], strict=True):
            start[dimension] = int(entry)
        for dimension, index_dim in zip(*case["batching"], strict=True):
            start[dimension] = batch[index_dim - (index_dim > index_vector_dim)]
        size = [1] * inputs.ndim
        index = list(start)
        for dimension, d in zip(case["window"], window_dims, strict=True):
            size[dimension] = updates.shape[d]
            index[dimension] += place[d]
        if all(
            0 <= s <= n - extent for s, n, extent in zip(start, inputs.shape, size, strict=True)
        ):
            result[tuple(index)] = result[tuple(index)] * 10 + updates[place]
    return result


SHIFT = """shift {
  a = s64[] parameter(0)
  b = s64[] parameter(1)
  t = s64[] constant(10)
  c = s64[] multiply(a, t)
  ROOT d = s64[] add(c, b)
}
"""


def instruction(inputs: np.ndarray, case: dict[str, Any]) -> str:
    """The scatter of a case with operands o, i and u."""
    batching, index_batching = case["batching"]
    lists = {
        "update_window_dims": case["update_window_dims"],
        "inserted_window_dims": case["inserted"],
        "input_batching_dims": batching,
        "scatter_indices_batching_dims": index_batching,
        "scatter_dims_to_operand_dims": case["map"],
    }
    spelled_lists = ", ".join(f"{n}={{{','.join(map(str, v))}}}" for n, v in lists.items())
    return (
        f"{spelled(inputs)} scatter(o, i, u), {spelled_lists}, "
        f"index_vector_dim={case['index_vector_dim']}, to_apply=shift"
    )


@given(st.data())
def test_definition(data: st.DataObject):
    rank = data.draw(st.integers(0, 3))
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    roles = data.draw(
        st.lists(st.sampled_from(["window", "inserted", "batching"]), min_size=rank, max_size=rank)
    )
    window, inserted, batching = (
        [d for d in range(rank) if roles[d] == role] for role in ("window", "inserted", "batching")
    )
    mapped = data.draw(st.permutations([*window, *inserted]))
    mapped = mapped[: data.draw(st.integers(0, len(mapped)))]
    # The scatter dimensions of the indices: the batching ones, in any order, and one more.
    extra = data.draw(st.lists(st.integers(0, 3), max_size=1))
    own = data.draw(
        st.permutations([*[(d, sizes[d]) for d in batching], *[(-1, n) for n in extra]])
    )
    index_vector_dim = data.draw(st.integers(0, len(own)))
    index_sizes = [n for _, n in own]
    index_sizes.insert(index_vector_dim, len(mapped))
    index_dims = {d: k + (k >= index_vector_dim) for k, (d, _) in enumerate(own)}
    update_rank = len(window) + len(own)
    window_dims = sorted(data.draw(st.permutations(range(update_rank)))[: len(window)])
    scatter_dims = [d for d in range(update_rank) if d not in window_dims]
    update_sizes = [0] * update_rank
    for d, (_, n) in zip(scatter_dims, own, strict=True):
        update_sizes[d] = n
    for d, dimension in zip(window_dims, window, strict=True):
        update_sizes[d] = data.draw(st.integers(0, sizes[dimension]))
    indices = np.array(
        [data.draw(st.integers(-1, 3)) for _ in range(int(np.prod(index_sizes)))], np.int32
    ).reshape(index_sizes)
    inputs = np.arange(np.prod(sizes, dtype=int), dtype=np.int64).reshape(sizes)
    updates = np.arange(np.prod(update_sizes, dtype=int), dtype=np.int64).reshape(update_sizes)
    case = {
        "index_vector_dim": index_vector_dim,
        "update_window_dims": window_dims,
        "update_scatter_dims": scatter_dims,
        "map": mapped,
        "inserted": inserted,
        "window": window,
        "batching": (batching, [index_dims[d] for d in batching]),
    }
    operands = {"o": inputs, "i": indices, "u": updates}
    same(
        on_reference(program(instruction(inputs, case), operands, SHIFT), operands),
        (defined(inputs, indices, updates, case),),
    )


NUMBERS = [row.name for row in BY_NAME.values() if row.element_class & ElementClass.NUMBER]
SPECIAL = [0.0, -0.0, 1.0, -1.5, np.nan, np.inf, -np.inf, 0.1, 3.0]


@pytest.mark.parametrize("name", each_or_full(NUMBERS, ("s4", "u8", "f8e4m3fn", "bf16", "f32")))
def test_known_computations(name: str):
    """One numpy function for all updates does what the computation does one by one."""
    row, random = BY_NAME[name], np.random.default_rng(3)
    if row.element_class & ElementClass.INTEGER:
        x, u = (random.integers(0, 200, n).astype(np.uint8).astype(np.int8) for n in (4, 60))
        x, u = x.astype(numpy_dtype(row.type)), u.astype(numpy_dtype(row.type))
    else:
        x, u = (numbers(name, random.choice(SPECIAL, n)) for n in (4, 60))
    operands = {"o": x, "i": numbers("s32", random.integers(-1, 4, 60)), "u": u}
    opcodes = ["add", "multiply"]
    if row.element_class != ElementClass.COMPLEX:
        opcodes += ["maximum", "minimum"]
    if row.element_class & ElementClass.INTEGER:
        opcodes += ["and", "or", "xor"]
    known = "".join(binary(opcode, name) for opcode in opcodes)
    # A second operation keeps a computation from being recognized.
    slow = "".join(
        f"slow_{opcode} {{\n  a = {name}[] parameter(0)\n  b = {name}[] parameter(1)\n"
        f"  c = {name}[] {opcode}(a, b)\n  ROOT d = {name}[] copy(c)\n}}\n"
        for opcode in opcodes
    )
    instructions = [
        f"{spelled(x)} scatter(o, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, "
        f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={prefix}{opcode}"
        for opcode, prefix in itertools.product(opcodes, ("", "slow_"))
    ]
    found = on_reference(program(instructions, operands, known + slow), operands)
    for opcode, fast, one_by_one in zip(opcodes, found[::2], found[1::2], strict=True):
        try:
            same(fast, one_by_one)
        except AssertionError as error:
            raise AssertionError(f"{opcode} of {name}") from error


def jax_scatters(x: Any, i: Any, u: Any) -> Any:
    return (
        x.at[i].set(u),
        x.at[i].add(u),
        x.at[i].max(u),
        x.at[i].min(u),
        x.at[:, i[:3] % 3].add(u[:1, :3]),
        x.at[i, i % 3].set(u[:, 0]),
        x.at[i, i % 3].multiply(u[:, 0]),
        x.at[1:3, ::2].set(u[:2, :2]),
        jnp.zeros(5, x.dtype).at[i].add(u[:, 0], mode="drop"),
        jax.vmap(lambda row, k, v: row.at[k].add(v))(x, i[:4], u[:4, 0]),
        jax.ops.segment_sum(u, i, num_segments=4),
    )


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(("s8", "u32", "bf16", "f32", "c64"), ("f32",)))
def test_jax_programs(name: str):
    random = np.random.default_rng(4)
    low = 0 if name[0] == "u" else -3
    x, u = (numbers(name, random.integers(low, 4, sizes)) for sizes in ((4, 3), (6, 3)))
    i = numbers("s32", random.integers(-2, 6, 6))
    function = jax_scatters
    if name == "c64":
        function = lambda x, i, u: (x.at[i].set(u), x.at[i].add(u))  # noqa: E731
    same(*of_jax(function, x, i, u))
