"""One valid use, or a few, of every operation of StableHLO with regions, state or processes."""

from __future__ import annotations

from stablehlo_uses import (
    COMPARISON,
    INT,
    SI,
    SP,
    TOKEN,
    Body,
    F,
    Literal,
    Matrix,
    S,
    Use,
    binary_body,
    comparison_body,
    plain,
)

REDUCTIONS: tuple[Use, ...] = (
    Use(
        "stablehlo.reduce", (F, S), ("tensor<2xf32>",), {"dimensions": (1,)}, (binary_body("add"),)
    ),
    Use(
        "stablehlo.reduce",
        (F, INT, S, SI),
        ("tensor<3xf32>", "tensor<3xi32>"),
        {"dimensions": (0,)},
        (
            Body(
                (S, SI, S, SI),
                f'%o = "stablehlo.add"(%a, %c) : ({S}, {S}) -> {S}',
                (("%o", S), ("%d", SI)),
            ),
        ),
    ),
    Use("stablehlo.map", (F, F), (F,), {"dimensions": (0, 1)}, (binary_body("multiply"),)),
    Use(
        "stablehlo.reduce_window",
        ("tensor<4x8xf32>", S),
        ("tensor<2x4xf32>",),
        {
            "window_dimensions": (2, 3),
            "window_strides": (2, 2),
            "base_dilations": (1, 1),
            "window_dilations": (1, 1),
            "padding": Matrix(((0, 0), (1, 0)), 2),
        },
        (binary_body("add"),),
    ),
    Use(
        "stablehlo.select_and_scatter",
        ("tensor<4x4xf32>", "tensor<2x2xf32>", S),
        ("tensor<4x4xf32>",),
        {
            "window_dimensions": (2, 2),
            "window_strides": (2, 2),
            "padding": Matrix(((0, 0), (0, 0)), 2),
        },
        (comparison_body(), binary_body("add")),
    ),
    Use(
        "stablehlo.sort",
        (F, INT),
        (F, INT),
        {"dimension": 1, "is_stable": True},
        (Body((S, S, SI, SI), f"{COMPARISON}({S}, {S}) -> {SP}", (("%o", SP),)),),
    ),
    Use(
        "stablehlo.sort",
        ("tensor<4xf32>",),
        ("tensor<4xf32>",),
        {"dimension": -1},
        (comparison_body(),),
    ),
    Use("chlo.top_k", (F,), ("tensor<2x2xf32>", "tensor<2x2xi32>"), {"k": 2}),
    Use(
        "stablehlo.batch_norm_training",
        ("tensor<2x3x4xf32>", "tensor<4xf32>", "tensor<4xf32>"),
        ("tensor<2x3x4xf32>", "tensor<4xf32>", "tensor<4xf32>"),
        {"epsilon": 0.001, "feature_index": 2},
    ),
    Use(
        "stablehlo.batch_norm_inference",
        ("tensor<2x3xf32>", *("tensor<3xf32>",) * 4),
        ("tensor<2x3xf32>",),
        {"epsilon": 0.001, "feature_index": 1},
    ),
    Use(
        "stablehlo.batch_norm_grad",
        ("tensor<2x3xf32>", *("tensor<3xf32>",) * 3, "tensor<2x3xf32>"),
        ("tensor<2x3xf32>", "tensor<3xf32>", "tensor<3xf32>"),
        {"epsilon": 0.001, "feature_index": 1},
    ),
    Use("stablehlo.cholesky", ("tensor<2x3x3xf32>",), ("tensor<2x3x3xf32>",), {"lower": True}),
    Use(
        "stablehlo.triangular_solve",
        ("tensor<3x3xf32>", "tensor<3x2xf32>"),
        ("tensor<3x2xf32>",),
        {
            "left_side": True,
            "lower": True,
            "unit_diagonal": False,
            "transpose_a": Literal("#stablehlo<transpose NO_TRANSPOSE>"),
        },
    ),
    *(
        Use(
            "stablehlo.fft",
            (a,),
            (b,),
            {"fft_type": Literal(f"#stablehlo<fft_type {kind}>"), "fft_length": (4,)},
        )
        for kind, a, b in (
            ("FFT", "tensor<2x4xcomplex<f32>>", "tensor<2x4xcomplex<f32>>"),
            ("IFFT", "tensor<4xcomplex<f64>>", "tensor<4xcomplex<f64>>"),
            ("RFFT", "tensor<2x4xf32>", "tensor<2x3xcomplex<f32>>"),
            ("IRFFT", "tensor<2x3xcomplex<f32>>", "tensor<2x4xf32>"),
        )
    ),
)

SUM = binary_body("add")
GROUPS = Matrix(((0, 1), (2, 3)), 2)
CHANNEL = Literal("#stablehlo.channel_handle<handle = 1, type = 0>")
FUNCTION = "func.func private @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n  return %a : tensor<2x3xf32>\n}\n"

CONTROL: tuple[Use, ...] = (
    Use(
        "stablehlo.if",
        (SP,),
        (F,),
        {},
        (Body((), "", (("%z", F),)), Body((), "", (("%z", F),))),
        before=f'%z = "stablehlo.constant"() <{{value = dense<0.0> : {F}}}> : () -> {F}\n',
    ),
    Use(
        "stablehlo.case",
        (SI,),
        (F,),
        {},
        (Body((), "", (("%z", F),)),) * 3,
        before=f'%z = "stablehlo.constant"() <{{value = dense<0.0> : {F}}}> : () -> {F}\n',
    ),
    Use(
        "stablehlo.while",
        (SI, F),
        (SI, F),
        {},
        (
            Body((SI, F), f"{COMPARISON.replace('%b', '%a')}({SI}, {SI}) -> {SP}", (("%o", SP),)),
            Body((SI, F), "", (("%a", SI), ("%b", F))),
        ),
    ),
    Use("stablehlo.optimization_barrier", (F, SI), (F, SI)),
    Use("stablehlo.tuple", (F, SI), (f"tuple<{F}, {SI}>",)),
    Use(
        "stablehlo.get_tuple_element", (f"tuple<{F}, {SI}>",), (SI,), {"index": Literal("1 : i32")}
    ),
    Use(
        "stablehlo.composite",
        (F,),
        (F,),
        {
            "name": Literal('"a.b"'),
            "decomposition": Literal("@f"),
            "composite_attributes": Literal("{n = 1 : i64}"),
            "version": Literal("1 : i32"),
        },
        beside=FUNCTION,
    ),
    Use(
        "stablehlo.custom_call",
        (F,),
        (F,),
        {
            "call_target_name": Literal('"t"'),
            "has_side_effect": True,
            "backend_config": Literal('"x"'),
            "api_version": Literal("2 : i32"),
        },
    ),
    Use(
        "stablehlo.custom_call",
        (F,),
        (F,),
        {
            "call_target_name": Literal('"t"'),
            "api_version": Literal("4 : i32"),
            "backend_config": Literal('{a = 1 : i64, b = "c"}'),
        },
    ),
    Use(
        "stablehlo.custom_call",
        (F, S),
        (F, S),
        {
            "call_target_name": Literal('"t"'),
            "operand_layouts": Literal(
                "[dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]"
            ),
            "result_layouts": Literal(
                "[dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]"
            ),
            "output_operand_aliases": Literal(
                "[#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]"
            ),
        },
    ),
    Use(
        "stablehlo.rng",
        (S, S, "tensor<2xi64>"),
        (F,),
        {"rng_distribution": Literal("#stablehlo<rng_distribution UNIFORM>")},
        before='%s = "stablehlo.constant"() <{value = dense<[2, 3]> : tensor<2xi64>}> : () -> tensor<2xi64>\n',
        made={2: "%s"},
    ),
    Use(
        "stablehlo.rng_bit_generator",
        ("tensor<2xui64>",),
        ("tensor<2xui64>", "tensor<2x3xui32>"),
        {"rng_algorithm": Literal("#stablehlo<rng_algorithm THREE_FRY>")},
    ),
)

CHANNEL_1 = Literal("#stablehlo.channel_handle<handle = 1, type = 1>")

COMMUNICATION: tuple[Use, ...] = (
    Use("stablehlo.after_all", (TOKEN, TOKEN), (TOKEN,)),
    Use("stablehlo.create_token", (), (TOKEN,)),
    Use(
        "stablehlo.infeed",
        (TOKEN,),
        (F, TOKEN),
        {"infeed_config": Literal('"x"'), "layout": Literal("[[0, 1]]")},
    ),
    Use("stablehlo.outfeed", (F, TOKEN), (TOKEN,), {"outfeed_config": Literal('"x"')}),
    Use(
        "stablehlo.send",
        (F, TOKEN),
        (TOKEN,),
        {
            "channel_handle": Literal("#stablehlo.channel_handle<handle = 1, type = 2>"),
            "is_host_transfer": True,
        },
    ),
    Use(
        "stablehlo.recv",
        (TOKEN,),
        (F, TOKEN),
        {
            "channel_handle": Literal("#stablehlo.channel_handle<handle = 1, type = 3>"),
            "is_host_transfer": True,
        },
    ),
    *(
        Use(name, operands, results, {"channel_handle": CHANNEL_1})
        for data in ((), (F, "tensor<i32>"))
        for name, operands, results in (
            ("stablehlo.send", (*data, TOKEN), (TOKEN,)),
            ("stablehlo.recv", (TOKEN,), (*data, TOKEN)),
        )
    ),
    *plain("stablehlo", "partition_id replica_id", [], "tensor<ui32>"),
    Use(
        "stablehlo.all_gather",
        (F,),
        ("tensor<2x6xf32>",),
        {"all_gather_dim": 1, "replica_groups": GROUPS},
    ),
    Use(
        "stablehlo.all_gather",
        (F,),
        ("tensor<2x6xf32>",),
        {
            "all_gather_dim": 1,
            "replica_groups": GROUPS,
            "channel_handle": CHANNEL,
            "use_global_device_ids": Literal("unit"),
        },
    ),
    Use(
        "stablehlo.all_reduce",
        (F, "tensor<4xf32>"),
        (F, "tensor<4xf32>"),
        {"replica_groups": GROUPS},
        (SUM,),
    ),
    Use(
        "stablehlo.reduce_scatter",
        ("tensor<4x3xf32>",),
        (F,),
        {"scatter_dimension": 0, "replica_groups": GROUPS},
        (SUM,),
    ),
    Use(
        "stablehlo.all_to_all",
        ("tensor<4x2xf32>",),
        ("tensor<2x4xf32>",),
        {"split_dimension": 0, "concat_dimension": 1, "split_count": 2, "replica_groups": GROUPS},
    ),
    Use("stablehlo.collective_broadcast", (F,), (F,), {"replica_groups": GROUPS}),
    Use(
        "stablehlo.all_gather",
        (F,),
        ("tensor<2x6xf32>",),
        {
            "all_gather_dim": 1,
            "replica_groups": Literal(
                "#stablehlo.replica_group_mesh_axes<"
                'mesh = #stablehlo.mesh<axes = [<name = "a", size = 4>]>, '
                'axes = [#stablehlo.axis_ref<name = "a", sub_axis_info = (1)2>]>'
            ),
        },
    ),
    Use(
        "stablehlo.collective_permute",
        (F,),
        (F,),
        {
            "source_target_pairs": Matrix(((0, 1), (1, 2)), 2),
            "channel_handle": Literal("#stablehlo.channel_handle<handle = 0, type = 0>"),
        },
    ),
    Use("stablehlo.cross-replica-sum", (F,), (F,), {"replica_groups": GROUPS}),
    Use(
        "stablehlo.async_start",
        (F,),
        ("!stablehlo.future<tensor<2x6xf32>>",),
        {},
        (
            Body(
                (F,),
                f'%o = "stablehlo.all_gather"(%a) <{{all_gather_dim = 1 : i64, replica_groups = {GROUPS}}}> : ({F}) -> tensor<2x6xf32>',
                (("%o", "tensor<2x6xf32>"),),
            ),
        ),
    ),
)
