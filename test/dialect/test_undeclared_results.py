"""
Rules that hold only where no result type is given: text always gives one, a constructor need not.

All other rules are broken by the `expected-error` comments of the files beside this one.
"""

from collections.abc import Callable

import pytest
from small_programs import computation, shape, value
from violations import assert_violates, cases

from xla_dialect.op import XlaOp
from xla_dialect.ops.asynchronous import CopyDoneOp
from xla_dialect.ops.collectives import AllGatherOp, ReduceScatterOp
from xla_dialect.ops.contraction import ConvolutionOp, DotOp, RaggedDotOp, ScaledDotOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.random import RngOp


@pytest.mark.parametrize(
    ("name", "label", "build"),
    [
        *cases("copy_done", ("C1", lambda: CopyDoneOp([value("f32[2]"), value("s32[]")]))),
        # As many processes as there are is one group: how many, the operation does not know.
        *cases("all_gather", ("C3", lambda: AllGatherOp([value("f32[2]")], dimension=0))),
        *cases(
            "reduce_scatter",
            (
                "C3",
                lambda: ReduceScatterOp(
                    [value("f32[6]")],
                    dimension=0,
                    regions=[computation(["f32[]", "f32[]"], AddOp)],
                ),
            ),
        ),
        # Of two element types, neither of which is more precise, none is the result's.
        *cases(
            "dot",
            (
                "C1",
                lambda: DotOp(
                    value("f8e5m2[2]"),
                    value("f8e5m2fnuz[2]"),
                    lhs_contracting_dims=[0],
                    rhs_contracting_dims=[0],
                ),
            ),
        ),
        *cases(
            "ragged_dot",
            (
                "C1",
                lambda: RaggedDotOp(
                    value("f8e5m2[5,3]"),
                    value("f8e5m2fnuz[2,3,4]"),
                    value("s32[2]"),
                    lhs_contracting_dims=[1],
                    rhs_contracting_dims=[1],
                    lhs_ragged_dims=[0],
                    rhs_group_dims=[0],
                ),
            ),
        ),
        *cases(
            "scaled_dot",
            (
                "C1",
                lambda: ScaledDotOp(
                    value("f8e5m2[2,8]"),
                    value("f8e5m2fnuz[8,3]"),
                    value("f32[1,4]"),
                    value("f32[]"),
                    lhs_contracting_dims=[1],
                    rhs_contracting_dims=[0],
                ),
            ),
        ),
        *cases(
            "convolution",
            (
                "C2",
                lambda: ConvolutionOp(
                    value("f8e5m2[2,4,5,6]"),
                    value("f8e5m2fnuz[6,4,2,3]"),
                    window="size=2x3",
                    dim_labels="bf01_oi01->bf01",
                ),
            ),
        ),
        *cases("convert", ("Result", lambda: ConvertOp(value("f32[2]")))),
        *cases(
            "rng",
            (
                "Result",
                lambda: RngOp(value("f32[]"), value("f32[]"), [], distribution="rng_normal"),
            ),
        ),
    ],
)
def test_results_do_not_follow(name: str, label: str, build: Callable[[], XlaOp]) -> None:
    assert_violates(name, label, build)


def test_sizes_are_asked_for() -> None:
    """The builder of these rules is the constructor: with the type given, they hold."""
    gathered = AllGatherOp([value("f32[2]")], dimension=0, result_types=[shape("f32[6]")])
    gathered.verify()
