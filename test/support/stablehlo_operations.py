"""One valid use, or a few, of every operation of StableHLO and CHLO."""

from __future__ import annotations

from stablehlo_structured_operations import COMMUNICATION, CONTROL, REDUCTIONS
from stablehlo_uses import (
    INT,
    SI,
    SP,
    Body,
    C,
    F,
    Literal,
    Matrix,
    Numbers,
    P,
    S,
    U,
    Use,
    binary_body,
    plain,
    precision,
)

ELEMENTWISE: tuple[Use, ...] = (
    *plain(
        "stablehlo",
        "abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic "
        "negate round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh",
        [F],
        F,
    ),
    *plain("stablehlo", "count_leading_zeros not popcnt abs negate sign", [INT], INT),
    *plain("stablehlo", "cosine exponential log negate sqrt tanh rsqrt sign", [C], C),
    *plain("stablehlo", "not", [P], P),
    *plain("stablehlo", "is_finite", [F], P),
    *plain("stablehlo", "real imag abs", [C], F),
    *plain("stablehlo", "real imag", [F], F),
    *plain(
        "stablehlo",
        "add atan2 divide maximum minimum multiply power remainder subtract",
        [F, F],
        F,
    ),
    *plain(
        "stablehlo",
        "add and divide maximum minimum multiply or power remainder shift_left "
        "shift_right_arithmetic shift_right_logical subtract xor",
        [INT, INT],
        INT,
    ),
    *plain("stablehlo", "add and or xor maximum minimum multiply", [P, P], P),
    *plain("stablehlo", "add divide multiply power subtract atan2", [C, C], C),
    *plain("stablehlo", "complex", [F, F], C),
    *plain("stablehlo", "select", [P, F, F], F),
    *plain("stablehlo", "select", [SP, F, F], F),
    *plain("stablehlo", "clamp", [F, F, F], F),
    *plain("stablehlo", "clamp", [S, F, S], F),
    *plain("stablehlo", "convert", [F], INT),
    *plain("stablehlo", "convert", [C], F),
    *plain("stablehlo", "bitcast_convert", [F], INT),
    *plain("stablehlo", "bitcast_convert", [F], "tensor<2x3x4xi8>"),
    *plain("stablehlo", "bitcast_convert", ["tensor<3x4xi8>"], "tensor<3xf32>"),
    Use(
        "stablehlo.reduce_precision",
        (F,),
        (F,),
        {"exponent_bits": Literal("5 : i32"), "mantissa_bits": Literal("2 : i32")},
    ),
    *(
        Use(
            "stablehlo.compare",
            (type_, type_),
            (P,),
            {
                "comparison_direction": Literal(f"#stablehlo<comparison_direction {direction}>"),
                "compare_type": Literal(f"#stablehlo<comparison_type {order}>"),
            },
        )
        for type_, direction, order in (
            (F, "LT", "FLOAT"),
            (F, "GE", "TOTALORDER"),
            (INT, "NE", "SIGNED"),
            (U, "GT", "UNSIGNED"),
            (P, "EQ", "UNSIGNED"),
            (C, "EQ", "FLOAT"),
            (F, "LE", "NOTYPE"),
        )
    ),
    Use(
        "stablehlo.exponential",
        (F,),
        (F,),
        {
            "result_accuracy": Literal(
                "#stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>"
            )
        },
    ),
)

MOVEMENTS: tuple[Use, ...] = (
    Use(
        "stablehlo.constant",
        (),
        ("tensor<2xf32>",),
        {"value": Literal("dense<[1.0, 2.0]> : tensor<2xf32>")},
    ),
    Use("stablehlo.iota", (), (INT,), {"iota_dimension": 1}),
    *plain("stablehlo", "reshape", [F], "tensor<3x2xf32>"),
    *plain("stablehlo", "reshape", ["tensor<1xf32>"], S),
    Use("stablehlo.broadcast", ("tensor<3xf32>",), (F,), {"broadcast_sizes": (2,)}),
    Use("stablehlo.broadcast_in_dim", ("tensor<3xf32>",), (F,), {"broadcast_dimensions": (1,)}),
    Use(
        "stablehlo.broadcast_in_dim",
        ("tensor<1x3xf32>",),
        ("tensor<3x2x3xf32>",),
        {"broadcast_dimensions": (1, 2)},
    ),
    Use("stablehlo.broadcast_in_dim", ("tensor<3x2xf32>",), (F,), {"broadcast_dimensions": (1, 0)}),
    Use("stablehlo.transpose", (F,), ("tensor<3x2xf32>",), {"permutation": (1, 0)}),
    Use(
        "stablehlo.transpose",
        ("tensor<2x3x4xf32>",),
        ("tensor<4x2x3xf32>",),
        {"permutation": (2, 0, 1)},
    ),
    Use("stablehlo.reverse", (F,), (F,), {"dimensions": (0, 1)}),
    Use(
        "stablehlo.slice",
        (F,),
        ("tensor<1x2xf32>",),
        {"start_indices": (1, 0), "limit_indices": (2, 3), "strides": (1, 2)},
    ),
    Use(
        "stablehlo.pad",
        (F, S),
        ("tensor<4x7xf32>",),
        {"edge_padding_low": (1, -1), "edge_padding_high": (1, 3), "interior_padding": (0, 1)},
    ),
    Use("stablehlo.concatenate", (F, "tensor<2x1xf32>"), ("tensor<2x4xf32>",), {"dimension": 1}),
    Use("stablehlo.dynamic_slice", (F, SI, SI), ("tensor<1x2xf32>",), {"slice_sizes": (1, 2)}),
    Use("stablehlo.dynamic_update_slice", (F, "tensor<1x2xf32>", SI, SI), (F,)),
    Use(
        "stablehlo.gather",
        ("tensor<4x5x6xf32>", "tensor<7x2xi32>"),
        ("tensor<7x2x6xf32>",),
        {
            "dimension_numbers": Numbers(
                "stablehlo.gather",
                {
                    "offset_dims": (1, 2),
                    "collapsed_slice_dims": (0,),
                    "start_index_map": (0, 1),
                    "index_vector_dim": 1,
                },
            ),
            "slice_sizes": (1, 2, 6),
            "indices_are_sorted": False,
        },
    ),
    Use(
        "stablehlo.gather",
        ("tensor<4x5x6xf32>", "tensor<4x7x1xi64>"),
        ("tensor<4x7x2xf32>",),
        {
            "dimension_numbers": Numbers(
                "stablehlo.gather",
                {
                    "offset_dims": (2,),
                    "collapsed_slice_dims": (1,),
                    "operand_batching_dims": (0,),
                    "start_indices_batching_dims": (0,),
                    "start_index_map": (2,),
                    "index_vector_dim": 2,
                },
            ),
            "slice_sizes": (1, 1, 2),
            "indices_are_sorted": True,
        },
    ),
    Use(
        "stablehlo.scatter",
        ("tensor<4x5x6xf32>", "tensor<7x2xi32>", "tensor<7x2x6xf32>"),
        ("tensor<4x5x6xf32>",),
        {
            "scatter_dimension_numbers": Numbers(
                "stablehlo.scatter",
                {
                    "update_window_dims": (1, 2),
                    "inserted_window_dims": (0,),
                    "scatter_dims_to_operand_dims": (0, 1),
                    "index_vector_dim": 1,
                },
            ),
            "indices_are_sorted": False,
            "unique_indices": True,
        },
        (binary_body("add"),),
    ),
    Use(
        "stablehlo.scatter",
        ("tensor<4x5xf32>", "tensor<4x7x1xi32>", "tensor<4x7xf32>"),
        ("tensor<4x5xf32>",),
        {
            "scatter_dimension_numbers": Numbers(
                "stablehlo.scatter",
                {
                    "inserted_window_dims": (1,),
                    "input_batching_dims": (0,),
                    "scatter_indices_batching_dims": (0,),
                    "scatter_dims_to_operand_dims": (1,),
                    "index_vector_dim": 2,
                },
            ),
        },
        (binary_body("maximum"),),
    ),
    Use(
        "stablehlo.torch_index_select",
        ("tensor<5x1x5xi32>", "tensor<2xi32>"),
        ("tensor<2x1x5xi32>",),
        {"dim": 0, "batch_dims": 0},
    ),
    Use(
        "stablehlo.torch_index_select",
        ("tensor<4x5x6xf32>", "tensor<4x3xi32>"),
        ("tensor<4x5x3xf32>",),
        {"dim": 2, "batch_dims": 1},
    ),
)

CONTRACTIONS: tuple[Use, ...] = (
    Use(
        "stablehlo.dot",
        (F, "tensor<3x4xf32>"),
        ("tensor<2x4xf32>",),
        {"precision_config": precision("HIGH", "DEFAULT")},
    ),
    Use("stablehlo.dot", ("tensor<3xf32>", "tensor<3xf32>"), (S,)),
    Use("stablehlo.dot", (F, "tensor<3xf32>"), ("tensor<2xf32>",)),
    Use(
        "stablehlo.dot_general",
        ("tensor<5x2x3xf32>", "tensor<5x3x4xf32>"),
        ("tensor<5x2x4xf32>",),
        {
            "dot_dimension_numbers": Numbers(
                "stablehlo.dot",
                {
                    "lhs_batching_dimensions": (0,),
                    "rhs_batching_dimensions": (0,),
                    "lhs_contracting_dimensions": (2,),
                    "rhs_contracting_dimensions": (1,),
                },
            ),
            "precision_config": precision("DEFAULT", "HIGHEST"),
        },
    ),
    Use(
        "stablehlo.dot_general",
        (F, "tensor<3x4xf32>"),
        ("tensor<2x4xf32>",),
        {
            "dot_dimension_numbers": Numbers(
                "stablehlo.dot",
                {"lhs_contracting_dimensions": (1,), "rhs_contracting_dimensions": (0,)},
            ),
            "algorithm": Literal(
                "#stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, "
                "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
                "num_primitive_operations = 3, allow_imprecise_accumulation = false>"
            ),
        },
    ),
    Use(
        "stablehlo.einsum",
        (F, "tensor<4x3xf32>"),
        ("tensor<2x4xf32>",),
        {"einsum_config": Literal('"ij,kj->ik"')},
    ),
    Use("stablehlo.unary_einsum", (F,), ("tensor<3xf32>",), {"einsum_config": Literal('"ij->j"')}),
    Use(
        "stablehlo.convolution",
        ("tensor<1x8x9x4xf32>", "tensor<3x2x2x6xf32>"),
        ("tensor<1x4x9x6xf32>",),
        {
            "window_strides": (2, 1),
            "padding": Matrix(((1, 1), (1, 0)), 2),
            "lhs_dilation": (1, 1),
            "rhs_dilation": (1, 1),
            "window_reversal": (False, True),
            "dimension_numbers": Literal(
                "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
            ),
            "feature_group_count": 2,
            "batch_group_count": 1,
            "precision_config": precision("DEFAULT", "DEFAULT"),
        },
    ),
    Use(
        "chlo.ragged_dot",
        ("tensor<11x5xf32>", "tensor<3x5x7xf32>", "tensor<3xi64>"),
        ("tensor<11x7xf32>",),
        {
            "ragged_dot_dimension_numbers": Numbers(
                "chlo.ragged_dot",
                {
                    "lhs_batching_dimensions": (),
                    "rhs_batching_dimensions": (),
                    "lhs_contracting_dimensions": (1,),
                    "rhs_contracting_dimensions": (1,),
                    "lhs_ragged_dimensions": (0,),
                    "rhs_group_dimensions": (0,),
                },
            )
        },
    ),
)

DYNAMIC: tuple[Use, ...] = (
    Use("stablehlo.get_dimension_size", (F,), (SI,), {"dimension": 1}),
    Use(
        "stablehlo.set_dimension_size",
        (F, SI),
        ("tensor<2x?xf32, #stablehlo.bounds<?, 3>>",),
        {"dimension": 1},
    ),
    Use(
        "stablehlo.dynamic_broadcast_in_dim",
        (S, "tensor<2xi32>"),
        ("tensor<?x?xf32>",),
        {"broadcast_dimensions": ()},
    ),
    Use(
        "stablehlo.dynamic_broadcast_in_dim",
        ("tensor<3xf32>", "tensor<2xi64>"),
        ("tensor<?x3xf32>",),
        {
            "broadcast_dimensions": (1,),
            "known_expanding_dimensions": (),
            "known_nonexpanding_dimensions": (0,),
        },
    ),
    Use("stablehlo.dynamic_iota", ("tensor<2xi32>",), ("tensor<?x?xi32>",), {"iota_dimension": 0}),
    Use("stablehlo.dynamic_pad", (F, S, *("tensor<2xi32>",) * 3), ("tensor<?x?xf32>",)),
    Use("stablehlo.real_dynamic_slice", (F, *("tensor<2xi32>",) * 3), ("tensor<?x?xf32>",)),
    Use("stablehlo.dynamic_reshape", (F, "tensor<1xi32>"), ("tensor<?xf32>",)),
    Use(
        "stablehlo.dynamic_gather",
        ("tensor<4x5x6xf32>", "tensor<7x2xi32>", "tensor<3xi32>"),
        ("tensor<7x?x?xf32>",),
        {
            "dimension_numbers": Numbers(
                "stablehlo.gather",
                {
                    "offset_dims": (1, 2),
                    "collapsed_slice_dims": (0,),
                    "start_index_map": (0, 1),
                    "index_vector_dim": 1,
                },
            ),
            "indices_are_sorted": False,
        },
    ),
    Use(
        "stablehlo.dynamic_conv",
        ("tensor<1x8x9x4xf32>", "tensor<3x2x4x6xf32>", "tensor<2x2xi32>"),
        ("tensor<1x?x?x6xf32>",),
        {
            "window_strides": (1, 1),
            "dimension_numbers": Literal(
                "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
            ),
            "feature_group_count": 1,
            "batch_group_count": 1,
        },
    ),
    *plain("stablehlo", "abs", ["tensor<?x3xf32>"], "tensor<?x3xf32>"),
    *plain("stablehlo", "add", ["tensor<?x3xf32>", F], F),
)

ROW = "tensor<3xf32>"
CHLO: tuple[Use, ...] = (
    *plain(
        "chlo",
        "acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc lgamma sinh square tan",
        [F],
        F,
    ),
    *plain(
        "chlo",
        "acos acosh asin asinh atan atanh conj cosh sinh square tan _asin_acos_kernel",
        [C],
        C,
    ),
    *plain("chlo", "is_inf is_neg_inf is_pos_inf", [F], P),
    *plain("chlo", "next_after polygamma zeta", [F, F], F),
    *plain("chlo", "mulhi", [INT, INT], INT),
    *plain(
        "chlo",
        "broadcast_add broadcast_atan2 broadcast_divide broadcast_maximum broadcast_minimum broadcast_multiply broadcast_next_after broadcast_polygamma broadcast_power broadcast_remainder broadcast_subtract broadcast_zeta",
        [F, ROW],
        F,
    ),
    *plain(
        "chlo",
        "broadcast_and broadcast_or broadcast_xor broadcast_shift_left broadcast_shift_right_arithmetic broadcast_shift_right_logical",
        ["tensor<2x1xi32>", "tensor<3xi32>"],
        INT,
    ),
    *plain("chlo", "broadcast_complex", [F, ROW], C),
    Use("chlo.broadcast_add", (F, "tensor<2xf32>"), (F,), {"broadcast_dimensions": (0,)}),
    Use(
        "chlo.broadcast_compare",
        (F, ROW),
        (P,),
        {
            "comparison_direction": Literal("#chlo<comparison_direction LT>"),
            "compare_type": Literal("#chlo<comparison_type FLOAT>"),
        },
    ),
    *plain("chlo", "broadcast_select", ["tensor<3xi1>", F, S], F),
    Use(
        "chlo.constant",
        (),
        ("tensor<2xf32>",),
        {"value": Literal("dense<[1.0, 2.0]> : tensor<2xf32>")},
    ),
    Use("chlo.constant_like", (F,), (F,), {"value": 1.5}),
    Use(
        "chlo.scan",
        (F, "tensor<3xi32>"),
        (F, "tensor<3xi32>"),
        {
            "dimension": 0,
            "is_reverse": True,
            "operandSegmentSizes": Literal("array<i32: 1, 1>"),
            "resultSegmentSizes": Literal("array<i32: 1, 1>"),
        },
        (Body((ROW, "tensor<3xi32>"), "", (("%a", ROW), ("%b", "tensor<3xi32>"))),),
    ),
)

USES: tuple[Use, ...] = (
    *ELEMENTWISE,
    *MOVEMENTS,
    *CONTRACTIONS,
    *REDUCTIONS,
    *CONTROL,
    *COMMUNICATION,
    *DYNAMIC,
    *CHLO,
)
"""Every operation at least once."""
