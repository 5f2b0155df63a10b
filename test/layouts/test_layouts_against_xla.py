"""Layouts beside XLA's own: orders and sizes in memory as XLA CPU has them."""

import importlib
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts_by_hand import orders, shape
from peers import has_jax
from xla_cpu import xla_cpu

from xla_dialect.layout import Layout
from xla_dialect.layouts.physical_order import from_bytes, to_physical
from xla_dialect.layouts.type_layouts import byte_size_of, human_string_with_layout
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import BY_NAME, ELEMENT_TYPES

pytestmark = pytest.mark.jax

if has_jax():
    import jax
    from jax.experimental.layout import Format
    from jax.experimental.layout import Layout as DeviceLayout
    from xla_cpu import hlo, hlo_module

    # Not in JAX's interface.
    cost_analysis: Any = importlib.import_module("jaxlib._jax").hlo_module_cost_analysis


def xla_byte_size(text: str) -> int:
    """The bytes of an array, as XLA's cost analysis counts them for one that is copied."""
    module = hlo_module(
        f"HloModule m\nENTRY e {{ p = {text} parameter(0)\n ROOT r = {text} copy(p) }}"
    )
    costs = cost_analysis(jax.devices()[0].client, module)
    return int(costs["bytes accessedout{}"])


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=lambda e: e.name)
def test_byte_sizes(element: Any):
    """Untiled: of tiles XLA's count knows nothing."""
    packed = ["{1,0:E(4)}", "{0,1:E(2)}"] if element.bits < 8 else []
    for layout in ("{1,0}", "{0,1}", *packed):
        text = f"{element.name}[3,5]{layout}"
        assert byte_size_of(shape(text)) == xla_byte_size(text), text


@given(st.lists(st.integers(1, 40), max_size=4), st.sampled_from(["s4", "pred", "f32", "c128"]))
def test_byte_sizes_of_many(sizes: list[int], name: str):
    text = f"{name}[{','.join(map(str, sizes))}]"
    assert byte_size_of(shape(text)) == xla_byte_size(text)


@pytest.mark.parametrize(
    "text",
    [
        "f32[]",
        "f32[5]",
        "f32[<=3,4]",
        "f32[]{:T(256)}",
        "bf16[10,130]{1,0:T(8,128)(2,1)S(1)}",
        "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
        "f32[3,5]{0,1:T(8,128)L(1024)E(32)S(3)SC(1:2)M(64)}",
        "(f32[3], s32[2,2]{0,1:T(2,2)}, token[])",
    ],
)
def test_spelling(text: str):
    assert human_string_with_layout(shape(text)) == str(hlo.Shape(text))


@pytest.mark.parametrize("order", [order for order in orders() if len(order) < 5])
def test_default_and_given_orders(order: tuple[int, ...]):
    sizes = (3, 2, 4, 5)[: len(order)]
    theirs = hlo.Shape.array_shape(np.dtype(np.float32), sizes, order)
    ours = f"f32[{','.join(map(str, sizes))}]{Layout(order)}" if order else "f32[]"
    assert human_string_with_layout(shape(ours)) == str(theirs)
    default = hlo.Shape.array_shape(np.dtype(np.float32), sizes)
    assert default.layout().minor_to_major() == Layout.default(len(sizes)).minor_to_major


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (1, 2, 0), (2, 0, 1), (0, 1, 2), (1, 0, 2)])
def test_bytes_in_memory(order: tuple[int, ...]):
    """A device array in a layout of its own, its buffer seen through DLPack."""
    sizes = (5, 3, 4)[: len(order)]
    values = np.arange(int(np.prod(sizes)), dtype=np.int32).reshape(sizes)
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    there = jax.device_put(values, Format(DeviceLayout(major_to_minor=order[::-1]), sharding))
    seen = np.from_dlpack(there)
    buffer = np.lib.stride_tricks.as_strided(seen, (values.size,), (4,))
    assert np.array_equal(buffer, to_physical(values, Layout(order)))


def test_the_first_narrow_element_is_lowest():
    """Bits of a byte become elements from the lowest on, as in a packed buffer."""
    data = np.array([0x21, 0x43, 0xF0], np.uint8)
    text = """HloModule m
    ENTRY e {
      p = u8[3]{0} parameter(0)
      b = s4[3,2]{1,0} bitcast-convert(p)
      ROOT r = s32[3,2]{1,0} convert(b)
    }"""
    ((theirs,),) = xla_cpu(re.sub(r"\n +", "\n", text), [[data]])
    ours = from_bytes(
        data, numpy_dtype(BY_NAME["s4"].type), Layout.parse("{1,0:E(4)}"), theirs.shape
    )
    assert np.array_equal(ours.astype(np.int32), theirs)
