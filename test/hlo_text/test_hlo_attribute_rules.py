"""
The rules of every attribute: a value that is read, and values like it that break one rule each.

In each template `@` stands for the value. What is refused differs from what is read in nothing else.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.verification import verify

COMPUTATIONS = """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
lt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
neg {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
other {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
"""
PARAMETERS = """  x = f32[4] parameter(0)
  m = f32[4,4] parameter(1)
  i = s32[] parameter(2)
  c = pred[] parameter(3)
  t = (f32[4], s32[]) parameter(4)
  k = f32[1,1,2,2] parameter(5)
  im = f32[1,1,4,4] parameter(6)
  si = s32[2,1] parameter(7)
  u = f32[2,4] parameter(8)
  z = c64[4] parameter(9)
  o = (s32[], s32[]) tuple(i, i)
  zero = f32[] constant(0)
"""


class Rules(NamedTuple):
    """The values of one attribute of one instruction."""

    template: str
    read: str
    refused: tuple[str, ...]
    head: str = ""
    """Attributes of the module."""


PERMUTE = "f32[4,4] collective-permute(m, m, o, o), source_target_pairs={{0,1}}, slice_sizes=@"
CONVOLUTION = "f32[1,1,3,3] convolution(im, k), "
WINDOW = "window={size=2x2}, "
LABELS = "dim_labels=bf01_oi01->bf01"
GATHER = "f32[2,4] gather(m, si), "
SCATTER = "f32[4,4] scatter(m, si, u), to_apply=add, "
CUSTOM_CALL = 'f32[4] custom-call(x), custom_call_target="t", '
EXPONENTIAL = "f32[4] exponential(x), result_accuracy=@"
FOUR = ", replica_count=4"
RAGGED = (
    *("{{0,1},{3}}", "{{0,1},{1,2,3}}", "{{0,0,1,2,3}}", "{{-1,0,1,2}}", "{{0,1}}", "{{a}}"),
    *("{{0,1,2,3,4}}", "{{0,1,2,3},{}}", "[2,3]<=[4]", "[2,2]<=[2]", "[2,2]<=[2,2]T(0,0)"),
    *("[4]<=[4]", "mesh['a'=4] {'b'}"),
)

INSTRUCTIONS: dict[str, tuple[Rules, ...]] = {
    "sharding": (
        Rules(
            "f32[4] negate(x), sharding={@}",
            "devices=[2]0,1",
            (
                *("{}", "maximal", "maximal device=0,1", "maximal device=-1", "replicatd"),
                *("replicated devices=[2]0,1", "replicated manual", "replicated, x"),
                *("devices=[2,2]0,1,2", "devices=[2]0,0", "devices=[0]", "devices=[4]<=[2]"),
                *("devices=[4]<=[2,2]T(0,0)", "devices=[4]<=[2,2]T(1)"),
                "devices=[1,2]0,1 last_tile_dim_replicate last_tile_dims={manual}",
                *("replicated shard_as -1", "mesh['a'=2], [{'b'}]", "mesh['a'=2], [{'a','a'}]"),
                "mesh['a'=2], [{'1'}]",
                *("mesh['a'=2], [{1}]", "mesh['a'=2,'a'=2], [{'a'}]", "mesh['a'=0], [{}]"),
                *("mesh['a'=2], [{'a'}], replicated={'a'}", "mesh['a'=2], [{'a'}], manual={'a'}"),
                *("mesh['a'=2], device_ids=(0,0), [{'a'}]", "mesh['a'=4], [{'a':(3)2}]"),
                *("mesh['a'=2], device_ids=(0,5), [{'a'}]", "mesh['a'=4], [{'a':(2)4}]"),
                "mesh['a'=2,'b'=2], [{}], replicated={'b','a'}",
                "maximal_mesh[device_id=-1]",
            ),
        ),
    ),
    "metadata": (
        Rules(
            "f32[4] negate(x), metadata={@}",
            'op_name="a" source_line=3',
            ("foo=1", 'op_name="a" op_name="b"', "op_name=3", 'source_line="a"', "source_line="),
        ),
    ),
    "frontend_attributes": (
        Rules("f32[4] negate(x), frontend_attributes={@}", 'a="b"', ("a=1", 'a="b" c="d"', "a")),
    ),
    "backend_config": (Rules("f32[4] negate(x), backend_config=@", '{"a":1}', ("abc", "3")),),
    "control-predecessors": (
        Rules("f32[4] negate(x), control-predecessors={@}", "zero", ("nobody", "", "r", "1")),
    ),
    "statistics": (Rules("f32[4] negate(x), statistics={@}", "a=1", ("a=b", "1", "a")),),
    "origin": (Rules("f32[4] negate(x), origin={@}", '{"x"}', ("x", '{"x"', "{x}")),),
    "replica_groups": (
        Rules(
            "f32[4] all-reduce(x), to_apply=add, replica_groups=@", "{{0,1},{2,3}}", RAGGED, FOUR
        ),
        Rules(
            "f32[8] all-gather(x), dimensions={0}, replica_groups=@",
            "[2,2]<=[4]",
            ("{{0,1,2},{3}}", "{{0,1,2,3}}"),
            FOUR,
        ),
        Rules(
            "f32[2] reduce-scatter(x), dimensions={0}, to_apply=add, replica_groups=@",
            "{{0,1},{2,3}}",
            ("{{0,1,2},{3}}", "{{0,1,2,3}}"),
            FOUR,
        ),
        Rules(
            "(f32[4], f32[4]) all-to-all(x, x), replica_groups=@",
            "{{0,1},{2,3}}",
            ("{{0,1,2,3}}", "{{0,1,2},{3}}"),
            FOUR,
        ),
    ),
    "dimensions": (
        Rules(
            "f32[8] all-gather(x), replica_groups={{0,1}}, dimensions=@", "{0}", ("{1}", "{0,1}")
        ),
        Rules("f32[4,4] broadcast(m), dimensions=@", "{1,0}", ("{2,1}", "{0,0}", "{-1,0}", "{0}")),
        Rules("f32[4,4] transpose(m), dimensions=@", "{1,0}", ("{0,0}", "{0}", "{0,2}", "0")),
        Rules("f32[4,4] reverse(m), dimensions=@", "{1,0}", ("{0,0}", "{2}", "{-1}")),
        Rules("f32[4] reduce(m, zero), to_apply=add, dimensions=@", "{1}", ("{1,1}", "{2}", "{}")),
        Rules("f32[8] concatenate(x, x), dimensions=@", "{0}", ("{1}", "{0,1}", "{}", "{-1}")),
        Rules("f32[4] sort(x), to_apply=lt, dimensions=@", "{0}", ("{1}", "{0,0}", "{}")),
        Rules("s32[] get-dimension-size(x), dimensions=@", "{0}", ("{1}", "{-1}", "{}")),
        Rules("f32[4] map(x, x), to_apply=add, dimensions=@", "{0}", ("{1}", "{}", "{0,1}")),
    ),
    "channel_id": (
        Rules(
            "f32[4] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=add, channel_id=@",
            "1",
            ("0", "-1", "a", "1.5"),
            FOUR,
        ),
    ),
    "use_global_device_ids": (
        Rules(
            "f32[4] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=add, @",
            "channel_id=1, use_global_device_ids=true",
            ("use_global_device_ids=true", "channel_id=1, use_global_device_ids=1"),
            FOUR,
        ),
    ),
    "mode": (
        Rules(
            "f32[4] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=add, mode=@",
            "cross_replica",
            ("foo", "1"),
            FOUR,
        ),
    ),
    "source_target_pairs": (
        Rules(
            "f32[4] collective-permute(x), source_target_pairs=@",
            "{{0,1},{1,0}}",
            (
                *("{{0,1,2}}", "{{0,1},{0,2}}", "{{0,1},{2,1}}", "{{0,7}}", "{{0,-1}}", "{0,1}"),
                "{{0,a}}",
            ),
            FOUR,
        ),
    ),
    "slice_sizes": (
        Rules(PERMUTE, "{{2,2}}", ("{{2,2},{2,2}}", "{{2}}", "{{5,2}}", "{{-1,2}}", "{2,2}"), FOUR),
    ),
    "has_dynamic_root": (
        Rules(
            "f32[4] collective-broadcast(x@, replica_groups={{0,1}}, has_dynamic_root=true",
            ", roots)",
            (", i)", ")", ", si)"),
            FOUR,
        ),
    ),
    "iota_dimension": (Rules("f32[4] iota(), iota_dimension=@", "0", ("1", "-1", "a")),),
    "slice": (
        Rules(
            "f32[2] slice(x), slice={@}",
            "[1:3]",
            ("[3:5]", "[3:1]", "[0:4:0]", "[-1:1]", "[0:2],[0:2]", "0:2", "[0]", ""),
        ),
    ),
    "padding": (
        Rules(
            "f32[6] pad(x, zero), padding=@", "1_1", ("1", "1_1x1_1", "0_0_-1", "1_1_1_1", "a_b")
        ),
    ),
    "direction": (
        Rules("pred[4] compare(x, x), direction=@", "LT", ("lt", "", "LESS", "1")),
        Rules("pred[4] compare(z, z), direction=@", "EQ", ("LT", "GE")),
    ),
    "type": (
        Rules("pred[4] compare(x, x), direction=LT, type=@", "TOTALORDER", ("SIGNED", "total")),
        Rules("pred[] compare(i, i), direction=LT, type=@", "SIGNED", ("TOTALORDER", "FLOAT")),
        Rules(
            "pred[4] compare(x, x), direction=LT, order=@",
            "TOTAL",
            ("TOTALORDER", "WEAK", "TOTAL, type=TOTALORDER"),
        ),
    ),
    "fft_type": (Rules("c64[4] fft(z), fft_length={4}, fft_type=@", "FFT", ("fft", "RFFT")),),
    "fft_length": (
        Rules("c64[4] fft(z), fft_type=FFT, fft_length=@", "{4}", ("{3}", "{4,4,4,4}", "{}", "4")),
    ),
    "exponent_bits": (
        Rules(
            "f32[4] reduce-precision(x), mantissa_bits=3, exponent_bits=@", "4", ("0", "-1", "a")
        ),
    ),
    "mantissa_bits": (
        Rules("f32[4] reduce-precision(x), exponent_bits=4, mantissa_bits=@", "0", ("-1", "a")),
    ),
    "k": (Rules("(f32[2], s32[2]) topk(x), k=@", "2", ("5", "-1", "1", "a")),),
    "is_stable": (
        Rules("(f32[2], s32[2]) topk(x), k=2, is_stable=@", "true", ("yes", "1")),
        Rules("f32[4] sort(x), dimensions={0}, to_apply=lt, is_stable=@", "false", ("0", "no")),
    ),
    "index": (Rules("f32[4] get-tuple-element(t), index=@", "0", ("1", "2", "-1", "a")),),
    "result_accuracy": (
        Rules(
            EXPONENTIAL,
            "{tolerance={atol=1,ulps=2}}",
            (
                *(
                    "{tolerance={atol=-1}}",
                    "{tolerance={atol=nan}}",
                    "{mode=best}",
                    "{}",
                    "highest",
                ),
                *("{mode=highest, tolerance={atol=1}}", "{tolerance={foo=1}}", "{tolerance=1}"),
            ),
        ),
        Rules("f32[4] @(x), result_accuracy={mode=highest}", "tanh", ("abs", "negate", "floor")),
    ),
    "operand_precision": (
        Rules(
            "f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
            "operand_precision=@",
            "{high,default}",
            ("{best}", "high", "{high", "{1}"),
        ),
    ),
    "algorithm": (
        Rules(
            "f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=@",
            "dot_tf32_tf32_f32",
            ("dot_foo", "{dot_f32_f32_f32}", "1"),
        ),
    ),
    "sparsity": (
        Rules(
            "f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, @",
            "sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1}}",
            (
                *("sparsity_config=foo", "sparsity=L.1@2:4", "sparsity_config="),
                *("sparsity_config={lhs={2:4}}", "sparsity_config={a={}}"),
            ),
        ),
    ),
    "contracting_dims": (
        Rules(
            "f32[4,4] dot(m, m), rhs_contracting_dims={0}, lhs_contracting_dims=@",
            "{1}",
            ("{2}", "{1,1}", "{0,1}", "{}", "{-1}"),
        ),
    ),
    "batch_dims": (
        Rules(
            "f32[4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={1}, @",
            "lhs_batch_dims={0}, rhs_batch_dims={0}",
            (
                *("lhs_batch_dims={0}", "lhs_batch_dims={1}, rhs_batch_dims={0}"),
                "lhs_batch_dims={2}, rhs_batch_dims={2}",
            ),
        ),
    ),
    "window": (
        Rules(
            CONVOLUTION + LABELS + ", window={@}",
            "size=2x2 stride=1x1",
            (
                *("size=2", "size=0x2", "size=2x2 stride=0x1", "size=2x2 lhs_dilate=0x1"),
                *("size=2x2 rhs_dilate=-1x1", "size=2x2 foo=1x1", "size=2x2 size=2x2", "size=3x2"),
                *("size=2x2 pad=1x1", "size=2x2 rhs_reversal=2x0", "stride=1x1", ""),
            ),
        ),
    ),
    "dim_labels": (
        Rules(
            CONVOLUTION + WINDOW + "dim_labels=@",
            "bf01_oi01->bf01",
            (
                *("bf00_oi01->bf01", "af01_oi01->bf01", "bf01_oi01", "bf012_oi012->bf012"),
                *("bf02_oi02->bf02", "bf01_oo01->bf01", "", "bf01_oi01->bf0"),
            ),
        ),
    ),
    "group_count": (
        Rules(
            CONVOLUTION + WINDOW + LABELS + ", @",
            "feature_group_count=1",
            (
                *("feature_group_count=0", "feature_group_count=-1", "batch_group_count=0"),
                *("batch_group_count=2, feature_group_count=2", "feature_group_count=2"),
            ),
        ),
    ),
    "convolution_kind": (
        Rules(CONVOLUTION + WINDOW + LABELS + ", convolution_kind=@", "fprop", ("foo", "1")),
    ),
    "gather": (
        Rules(
            GATHER + "@",
            "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
            "slice_sizes={1,4}",
            tuple(
                "offset_dims={{{}}}, collapsed_slice_dims={{{}}}, start_index_map={{{}}}, "
                "index_vector_dim={}, slice_sizes={{{}}}{}".format(*row)
                for row in (
                    ("2", "0", "0", "1", "1,4", ""),
                    ("1,0", "", "0", "1", "1,4", ""),
                    ("1", "2", "0", "1", "1,4", ""),
                    ("1", "0", "0,0", "1", "1,4", ""),
                    ("1", "0", "5", "1", "1,4", ""),
                    ("1", "0", "0", "3", "1,4", ""),
                    ("1", "0", "0", "1", "1", ""),
                    ("1", "0", "0", "1", "1,5", ""),
                    ("1", "0", "0", "1", "2,4", ""),
                    ("1", "0", "0", "1", "1,4", ", indices_are_sorted=1"),
                )
            ),
        ),
    ),
    "scatter": (
        Rules(
            SCATTER + "@",
            "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
            "index_vector_dim=1",
            tuple(
                "update_window_dims={{{}}}, inserted_window_dims={{{}}}, "
                "scatter_dims_to_operand_dims={{{}}}, index_vector_dim={}{}".format(*row)
                for row in (
                    ("2", "0", "0", "1", ""),
                    ("1", "3", "0", "1", ""),
                    ("1", "0", "4", "1", ""),
                    ("1", "0", "0", "-1", ""),
                    ("1", "0", "0", "1", ", unique_indices=2"),
                )
            ),
        ),
    ),
    "api_version": (
        Rules(
            CUSTOM_CALL + "api_version=@",
            "API_VERSION_TYPED_FFI",
            ("API_VERSION_UNSPECIFIED", "3", "typed"),
        ),
    ),
    "schedule": (Rules(CUSTOM_CALL + "schedule=@", "SCHEDULE_LATEST", ("SCHEDULE_FOO", "1")),),
    "operand_layout_constraints": (
        Rules(
            CUSTOM_CALL + "operand_layout_constraints={@}",
            "f32[4]{0}",
            ("f32[4]{0}, f32[4]{0}", "s32[4]{0}", "f32[5]{0}", "f32[4]{1}", ""),
        ),
    ),
    "custom_call_has_side_effect": (
        Rules(CUSTOM_CALL + "custom_call_has_side_effect=@", "true", ("1", "yes")),
    ),
    "output_to_operand_aliasing": (
        Rules(
            CUSTOM_CALL + "output_to_operand_aliasing={@}",
            "{}: (0, {})",
            ("{}: (3, {})", "{1}: (0, {})", "{}: (0, {0})", "{}: (0, {}), {}: (0, {})", "0"),
        ),
        Rules(
            "f32[4] fusion(x), kind=kLoop, calls=neg, output_to_operand_aliasing={@}",
            "{}: (0, {})",
            ("{}: (1, {})", "{0}: (0, {})"),
        ),
        Rules(
            '(f32[4], s32[]) custom-call(x, i), custom_call_target="t", '
            "output_to_operand_aliasing={@}",
            "{0}: (0, {}), {1}: (1, {})",
            ("{0}: (1, {})", "{}: (0, {})", "{2}: (0, {})"),
        ),
    ),
    "padding_type": (Rules(CUSTOM_CALL + "padding_type=@", "PADDING_SAME", ("SAME", "1")),),
    "literal": (
        Rules(CUSTOM_CALL + "literal=@", "f32[2]{0} {1, 2}", ("foo", "f32[2]{0} {1}", "{1}")),
    ),
    "computations": (
        Rules(CUSTOM_CALL + "@", "to_apply=neg", ("called_computations={neg}, to_apply=neg",)),
        Rules("f32[4] call(x), to_apply=@", "neg", ("add", "nobody", "{neg}")),
        Rules("f32[4] fusion(x), kind=kLoop, @", "calls=neg", ("", "calls=add", "to_apply=neg")),
        Rules(
            "f32[4] conditional(c, x, x), @",
            "true_computation=neg, false_computation=neg",
            (
                *("true_computation=neg", "branch_computations={neg, neg}"),
                "true_computation=neg, false_computation=neg, branch_computations={neg, neg}",
                "true_computation=neg, false_computation=add",
            ),
        ),
        Rules(
            "f32[4] conditional(i, x, x), branch_computations=@",
            "{neg, other}",
            ("{neg}", "{neg, neg, neg}", "neg", "{}"),
        ),
    ),
    "kind": (Rules("f32[4] fusion(x), calls=neg, kind=@", "kLoop", ("loop", "kFoo")),),
    "is_composite": (Rules("f32[4] call(x), to_apply=neg, is_composite=@", "true", ("2", "a")),),
    "distribution": (
        Rules("f32[4] rng(zero, zero), distribution=@", "rng_normal", ("normal",)),
        Rules("f32[4] rng(zero, zero), distribution=@", "RNG_UNIFORM", ("RNG_BERNOULLI",)),
    ),
    "rng states": (
        Rules(
            "(@, u32[3]) rng-bit-generator(@ constant({...})), algorithm=rng_default",
            "u32[4]",
            ("pred[4]", "c64[4]"),
        ),
        Rules(
            "(@, u32[3]) rng-bit-generator(@ constant({...})), algorithm=RNG_PHILOX",
            "u32[3]",
            ("pred[3]",),
        ),
    ),
    "transpose_a": (
        Rules(
            "f32[4,4] triangular-solve(m, m), left_side=true, lower=true, transpose_a=@",
            "NO_TRANSPOSE",
            ("NOPE", "false"),
        ),
    ),
    "lower": (Rules("f32[4,4] cholesky(m), lower=@", "true", ("yes", "1")),),
    "feature_index": (
        Rules(
            "(f32[4,4], f32[4], f32[4]) batch-norm-training(m, x, x), epsilon=0.1, feature_index=@",
            "1",
            ("2", "-1", "a"),
        ),
    ),
    "epsilon": (
        Rules(
            "(f32[4,4], f32[4], f32[4]) batch-norm-training(m, x, x), feature_index=1, epsilon=@",
            "0.1",
            ("abc", "1e99", "{0}"),
        ),
    ),
    "domain": (
        Rules(
            "f32[4] domain(x), domain={@}",
            'kind="sharding", entry={replicated}, exit={replicated}',
            (
                'kind="foo", entry={replicated}, exit={replicated}',
                *('kind="sharding", entry={replicated}', 'kind="sharding", entry={x}, exit={x}'),
            ),
        ),
    ),
    "layout": (
        Rules(
            "f32[4,4]{@} copy(m)",
            "1,0:D(H,C+~)T(8,128)(2,1)S(1)",
            (
                *("1,1", "0", "2,1,0", "1,2", "1,-1", "1,0:D(X,C)", "1,0:D(D)", "1,0:T(0)"),
                *("1,0:T(-2)", "1,0:S(a)", "1,0:S(-1)", "1,0:E(a)", "1,0:E(-1)", "1,0:S(1)T(8)"),
                *("1,0:S(1)S(2)", "1,0:#(f32)", "1,0:*(f32)", "1,0:M(a)", "1,0:SC(5:1)"),
                *("1,0:SC(0:9)", "1,0:P(f32)", "1,0:L(-1)", "1,0:Q(1)", "1,0:T(8"),
            ),
        ),
    ),
    "unknown": (
        Rules("f32[4] negate(x)@", "", (", foo=1", ", dimensions={0}", ", calls=neg")),
        Rules("f32[4] negate(x)@", "", (", metadata={}, metadata={}",)),
        Rules("f32[4] negate(x)@", "", (", parameter_replication={true}",)),
    ),
}

MODULES = Rules(
    "f32[4] negate(x)",
    "is_scheduled=true, replica_count=2, num_partitions=1",
    (
        *("replica_count=a", "is_scheduled=1", "is_scheduled=maybe", "foo=true"),
        *("replica_count=1, replica_count=1", "alias_passthrough_params=x", "debug_attributes=x"),
        *('debug_attributes={a="b"}', 'debug_attributes={{"a"}:{foo=1}}'),
        *("input_output_alias={ {}: (0, {}, some-alias) }", "frontend_attributes={a=b}"),
        *("input_output_alias={ {}: (99, {}, may-alias) }", "buffer_donor={ (99, {}) }"),
        *("input_output_alias={ {3}: (0, {}, may-alias) }", "buffer_donor={ (0, {1}) }"),
        *("entry_computation_layout={(f32[4]{0})->f32[4]{0}}", "entry_computation_layout={f32[4]}"),
        "allow_spmd_sharding_propagation_to_output={maybe}",
    ),
)

COMPUTATIONS_AND_PARAMETERS = {
    "a hole between parameters": "ENTRY e { ROOT x = f32[] parameter(1) }",
    "a parameter twice": "ENTRY e { x = f32[] parameter(0)\n ROOT y = f32[] parameter(0) }",
    "a negative number": "ENTRY e { ROOT x = f32[] parameter(-1) }",
    "too many flags": "ENTRY e { ROOT x = f32[] parameter(0), parameter_replication={true,false} }",
    "too few flags": "ENTRY e { ROOT x = (f32[], s32[]) parameter(0), parameter_replication={true} }",
    "no flag": "ENTRY e { ROOT x = f32[] parameter(0), parameter_replication={yes} }",
    "two entries": "ENTRY e { ROOT x = f32[] parameter(0) }\nENTRY f { ROOT x = f32[] parameter(0) }",
    "two roots": "ENTRY e { ROOT x = f32[] parameter(0)\n ROOT y = f32[] negate(x) }",
    "recursion": "ENTRY e { x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=e }",
    "another signature": "ENTRY e (x: f32[2]) -> f32[] { ROOT x = f32[] parameter(0) }",
    "another result": "ENTRY e (x: f32[]) -> f32[2] { ROOT x = f32[] parameter(0) }",
    "an attribute that there is not": "ENTRY e { ROOT x = f32[] parameter(0) }, foo=1",
    "a thread without quotes": "ENTRY e { ROOT x = f32[] parameter(0) }, execution_thread=a",
    "an element that there is not": "ENTRY e { p = (f32[]) parameter(0)\n ROOT y = negate(%p#1) }",
    "an element of an array": "ENTRY e { p = f32[2] parameter(0)\n ROOT y = negate(%p#0) }",
    "an element by name": "ENTRY e { p = (f32[]) parameter(0)\n ROOT y = negate(%p#a) }",
    "a computation of two starts": "f { ROOT x = f32[] parameter(0) }\n"
    "ENTRY e { p = f32[] parameter(0)\n s = ((f32[]), f32[], s32[]) async-start(p), calls=f\n"
    " t = ((f32[]), f32[], s32[]) async-start(p), calls=f\n a = f32[] async-done(s)\n"
    " ROOT b = f32[] async-done(t) }",
}


def program(line: str, head: str = "") -> str:
    """A module whose entry ends with one instruction of the parameters."""
    body = f"{PARAMETERS}  roots = s32[1] constant({{0}})\n  ROOT r = {line}\n"
    return f"HloModule m{head}\n{COMPUTATIONS}ENTRY e {{\n{body}}}\n"


def read(text: str) -> None:
    """Reads and verifies a text; its print is read as the same."""
    module = read_hlo(text, "text.hlo")
    verify(module, {"text.hlo": text})
    printed = print_hlo(module)
    assert print_hlo(read_hlo(printed)) == printed


def all_rules() -> Iterator[tuple[str, Rules]]:
    for name, found in INSTRUCTIONS.items():
        for number, rules in enumerate(found):
            yield f"{name} {number}" if number else name, rules


@pytest.mark.parametrize("rules", [r for _, r in all_rules()], ids=[n for n, _ in all_rules()])
def test_instructions(rules: Rules) -> None:
    read(program(rules.template.replace("@", rules.read), rules.head))
    for value in rules.refused:
        text = program(rules.template.replace("@", value), rules.head)
        with pytest.raises(LocatedError) as caught:
            read(text)
        # All before is the same as in what was read; what is not closed ends with the text.
        assert caught.value.line >= text.count("\n") - 2, (value, str(caught.value))


def test_modules() -> None:
    read(program(MODULES.template, ", " + MODULES.read))
    for value in MODULES.refused:
        with pytest.raises(LocatedError) as caught:
            read(program(MODULES.template, ", " + value))
        assert caught.value.line == 1, (value, str(caught.value))


@pytest.mark.parametrize("name", COMPUTATIONS_AND_PARAMETERS)
def test_computations_and_parameters(name: str) -> None:
    with pytest.raises(LocatedError):
        read(f"HloModule m\n{COMPUTATIONS_AND_PARAMETERS[name]}\n")
