"""mlir-opt accepts what every operation becomes, for every element type, before and after fusion."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from mlir_acceptance import assert_mlir_takes
from run_files import COMPUTED_ALIKE
from small_programs import Built, computation, constant, function, shape
from sweeps import each_or_full
from tensors_level import FUSION, TO_TENSORS, lower
from window_programs import reduce_window, select_and_scatter
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xla_dialect.attributes import ComparisonType
from xla_dialect.mlir_text import print_mlir
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise, operations_of
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp, bitcast_type
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.ops.elementwise import ClampOp, CompareOp, SelectOp
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.shapes.window import Window, WindowAttr
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, array, element_name
from xla_dialect.violations import Violation

NAMES = [e.name for e in ELEMENT_TYPES]
QUICK = [e.name for e in ELEMENT_TYPES if str(e.type) in {group[-1] for group in COMPUTED_ALIKE}]
"""One element type of each group that is computed alike."""


def elementwise_functions(name: str) -> Iterator[FuncOp]:
    """A function for each elementwise operation that takes the type."""
    row = BY_NAME[name]
    for operation in operations_of(elementwise):
        if not row.element_class & operation.contract().elements:
            continue
        if operation in (CompareOp, SelectOp, ClampOp):
            continue
        if operation is elementwise.ComplexOp and name not in ("f32", "f64"):
            continue
        count = len(operation.get_irdl_definition().operands)
        title = operation.name.replace(".", "_")
        yield function(title, [f"{name}[4]"] * count, operation)
    order = ComparisonType.TOTALORDER if row.element_class == ElementClass.FLOAT else None
    yield function(
        "compare",
        [f"{name}[4]"] * 2,
        lambda x, y: [
            CompareOp(x, y, direction="EQ"),
            CompareOp(x, y, direction="NE", comparison_type=order),
        ],
    )
    yield function("select", ["pred[]", f"{name}[4]", f"{name}[4]"], SelectOp)
    if row.element_class != ElementClass.COMPLEX:
        yield function("clamp", [f"{name}[]", f"{name}[4]", f"{name}[4]"], ClampOp)


def conversions(name: str) -> Iterator[FuncOp]:
    """Conversions to all types, and those bit casts that there are."""
    for target in NAMES:
        element_type = BY_NAME[target].type
        yield function(
            f"convert_{target}",
            [f"{name}[4]"],
            lambda x, t=element_type: ConvertOp(x, result_types=[array(t, (4,))]),
        )
        ratio = max(1, BY_NAME[target].bits // BY_NAME[name].bits)
        source = array(BY_NAME[name].type, (3, ratio) if ratio > 1 else (3,))
        try:
            result = bitcast_type(source, element_type)
        except Violation:
            continue
        yield function(
            f"bitcast_{target}",
            [source],
            lambda x, t=result: BitcastConvertOp(x, result_types=[t]),
        )


def movement(a: Any, b: Any, i: Any) -> Built:
    """The operations that take every type, one after the other."""
    element_type = a.type.element_type
    part = SliceOp(a, start_indices=[0, 0], limit_indices=[2, 4], strides=[1, 2])
    rows = GatherOp(
        a,
        BroadcastOp(i, dimensions=[], result_types=[array(i.type.element_type, (5,))]),
        start_index_map=[0],
        collapsed_slice_dims=[0],
        offset_dims=[1],
        slice_sizes=[1, 4],
        index_vector_dim=1,
    )
    return [
        part,
        rows,
        BroadcastOp(b, dimensions=[], result_types=[array(element_type, (2, 3))]),
        ConcatenateOp([a, a], dimension=1),
        DynamicSliceOp(a, [i, i], dynamic_slice_sizes=[2, 2]),
        DynamicUpdateSliceOp(a, part, [i, i]),
        PadOp(a, b, edge_padding_low=[1, -1], edge_padding_high=[0, 2], interior_padding=[2, 0]),
        ReshapeOp(a, result_types=[array(element_type, (2, 6))]),
        ReverseOp(TransposeOp(a, dimensions=[1, 0]), dimensions=[1]),
        DotOp(a, a, lhs_contracting_dims=[0], rhs_contracting_dims=[0]),
        ReduceOp(
            [a],
            [b],
            dimensions=[0],
            regions=[computation([array(element_type, ())] * 2, elementwise.AddOp)],
        ),
    ]


WINDOW = Window.parse("size=2x2 stride=2x1 pad=1_0x1_1")


def windows(a: Any, b: Any, s: Any) -> Built:
    """The operations with windows: known and unknown computations, several inputs, running sums."""
    name = element_name(a.type.element_type)
    running = Window.parse("size=1x4 pad=0_0x3_0")
    add, pair = elementwise.AddOp, lambda x, y, z, w: [add(x, z), add(y, w)]
    compare = partial(CompareOp, direction="EQ")
    found: list[XlaOp] = [
        reduce_window(WINDOW, [name], add)(a, b),
        reduce_window(WINDOW, [name], lambda x, y: add(add(x, y), y))(a, b),
        reduce_window(WINDOW, [name] * 2, pair)(a, a, b, b),
        reduce_window(running, [name], add)(a, b),
        select_and_scatter(WINDOW, name, compare, add)(a, s, b),
    ]
    if name != "pred":
        base = ReshapeOp(a, result_types=[array(a.type.element_type, (3, 4, 1))])
        kernel = ReshapeOp(s, result_types=[array(a.type.element_type, (2, 5, 1))])
        labels, window = "b0f_o0i->b0f", WindowAttr(Window.parse("size=5 pad=2_2"))
        found.append(ConvolutionOp(base, kernel, window=window, dim_labels=labels))
    return found


@pytest.mark.mlir_opt
@pytest.mark.parametrize("name", each_or_full(NAMES, QUICK))
def test_mlir_opt_accepts_the_tensors_level(name: str, mlir_opt_path: str) -> None:
    functions = [*elementwise_functions(name), *conversions(name)]
    functions.append(function("movement", [f"{name}[3,4]", f"{name}[]", "u8[]"], movement))
    placements = WINDOW.placements((3, 4))
    source = array(BY_NAME[name].type, placements)
    functions.append(function("windows", [f"{name}[3,4]", f"{name}[]", source], windows))
    functions.append(function("constants", [], lambda: [constant(name, [1, 0]), constant(name, 1)]))
    if name != "pred":
        result = shape(f"{name}[5]")
        functions.append(
            function("iota", [], lambda: IotaOp(iota_dimension=0, result_types=[result]))
        )
    module = ModuleOp(functions)
    module.verify()
    for passes in (TO_TENSORS, FUSION):
        lower(module, passes)
        assert_mlir_takes(mlir_opt_path, print_mlir(module))
