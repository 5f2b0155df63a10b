"""Programs of HLO text, and the same programs with layouts given to all their arrays."""

from collections.abc import Callable
from random import Random
from typing import cast

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.layouts.movement import bytes_moved_by, declared_order, movers
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.types import Array, array, is_array

COMPUTATIONS = """\
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
first { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)
  j = s32[] parameter(3)  less = pred[] compare(b, a), direction=LT
  x = f32[] select(less, b, a)  k = s32[] select(less, j, i)
  ROOT both = (f32[], s32[]) tuple(x, k) }
below { s = (s32[], f32[5,4], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)  ROOT less = pred[] compare(i, n), direction=LT }
step { s = (s32[], f32[5,4], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = f32[5,4] get-tuple-element(s), index=1  b = f32[4] get-tuple-element(s), index=2
  one = s32[] constant(1)  next = s32[] add(i, one)  zero = s32[] constant(0)
  row = f32[1,4] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,4}
  flat = f32[4] reshape(row)  sum = f32[4] add(flat, b)  new = f32[1,4] reshape(sum)
  more = f32[5,4] dynamic-update-slice(x, new, next, zero)  half = f32[] constant(0.5)
  halves = f32[5,4] broadcast(half), dimensions={}  y = f32[5,4] multiply(more, halves)
  ROOT state = (s32[], f32[5,4], f32[4]) tuple(next, y, sum) }
twice { x = f32[3,4] parameter(0)  ROOT y = f32[3,4] add(x, x) }
turned { x = f32[3,4] parameter(0)  t = f32[4,3] transpose(x), dimensions={1,0}
  r = f32[4,3] negate(t)  ROOT u = f32[3,4] transpose(r), dimensions={1,0} }
scaled { x = f32[3,4] parameter(0)  s = f32[3,4] exponential(x)  ROOT y = f32[3,4] multiply(s, x) }
"""

PROGRAMS = {
    "matmul": """\
  x = f32[5,7] parameter(0)  w = f32[7,6] parameter(1)  bias = f32[6] parameter(2)
  zero = f32[] constant(0)
  y = f32[5,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[5,6] broadcast(bias), dimensions={1}
  z = f32[5,6] add(y, b)  t = f32[6,5] transpose(z), dimensions={1,0}
  rows = f32[5] reduce(z, zero), dimensions={1}, to_apply=add
  s = f32[3,5] slice(t), slice={[1:6:2], [0:5]}
  p = f32[6,6] pad(s, zero), padding=1_2x0_1
  q = f32[6,6] pad(t, zero), padding=0_0x1_0
  c = f32[6,12] concatenate(p, q), dimensions={1}
  ROOT all = (f32[5], f32[6,12], f32[6,5]) tuple(rows, c, t)""",
    "batched": """\
  q = f32[2,3,4,5] parameter(0)  k = f32[2,6,4,5] parameter(1)
  scores = f32[2,4,3,6] dot(q, k), lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_contracting_dims={3}
  zero = f32[] constant(0)
  sums = f32[2,6] reduce(scores, zero), dimensions={1,2}, to_apply=add
  e = f32[2,4,3,6] exponential(scores)  t = f32[2,3,4,6] transpose(e), dimensions={0,2,1,3}
  flat = f32[6,24] reshape(t)
  ROOT all = (f32[2,6], f32[6,24]) tuple(sums, flat)""",
    "gather": """\
  x = f32[8,4] parameter(0)  i = s32[2,3] parameter(1)
  rows = f32[2,3,4] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,4}
  n = s32[2,3,4] iota(), iota_dimension=1  m = f32[2,3,4] convert(n)
  y = f32[2,3,4] subtract(rows, m)  largest = f32[] constant(inf)  none = s32[] constant(-1)
  least = (f32[2,4], s32[2,4]) reduce(y, n, largest, none), dimensions={1}, to_apply=first
  values = f32[2,4] get-tuple-element(least), index=0
  places = s32[2,4] get-tuple-element(least), index=1
  back = f32[2,3,4] reverse(y), dimensions={0,2}
  ROOT all = (f32[2,4], s32[2,4], f32[2,3,4]) tuple(values, places, back)""",
    "while": """\
  x = f32[5,4] parameter(0)  b = f32[4] parameter(1)  zero = s32[] constant(0)
  init = (s32[], f32[5,4], f32[4]) tuple(zero, x, b)
  loop = (s32[], f32[5,4], f32[4]) while(init), condition=below, body=step
  y = f32[5,4] get-tuple-element(loop), index=1  t = f32[4,5] transpose(y), dimensions={1,0}
  ROOT all = ((s32[], f32[5,4], f32[4]), f32[4,5]) tuple(loop, t)""",
    "branches": """\
  p = pred[] parameter(0)  n = s32[] parameter(1)  x = f32[3,4] parameter(2)
  a = f32[3,4] conditional(p, x, x), true_computation=twice, false_computation=turned
  y = f32[3,4] conditional(n, a, a, x), branch_computations={twice, scaled, turned}
  z = f32[3,4] call(y), to_apply=turned
  f = f32[3,4] fusion(z), kind=kLoop, calls=scaled
  ROOT all = (f32[3,4], f32[3,4]) tuple(y, f)""",
    "types": """\
  h = bf16[3,4] parameter(0)  e = f8e4m3fn[4,3] parameter(1)  n = s4[3,4] parameter(2)
  z = c64[4,3] parameter(3)  m = pred[3,4] parameter(4)  u = u8[3,4] parameter(5)
  hh = bf16[3,4] multiply(h, h)  et = f8e4m3fn[3,4] transpose(e), dimensions={1,0}
  ee = f8e4m3fn[3,4] add(et, et)  nn = s4[3,4] add(n, n)  zz = c64[4,3] multiply(z, z)
  zt = c64[3,4] transpose(zz), dimensions={1,0}  r = f32[3,4] real(zt)
  no = pred[3,4] not(m)  uu = u8[3,4] add(u, u)  v = u8[3,4] select(no, u, uu)
  k = bf16[3,4] convert(v)  hk = bf16[3,4] add(hh, k)  ht = bf16[4,3] transpose(hk), dimensions={1,0}
  ROOT all = (bf16[4,3], f8e4m3fn[3,4], s4[3,4], c64[4,3], f32[3,4], pred[3,4], u8[3,4]) tuple(ht, ee, nn, zz, r, no, v)""",
    "reshapes": """\
  x = f32[4,1,6] parameter(0)  i = s32[] parameter(1)  zero = s32[] constant(0)
  y = f32[2,2,3,2] reshape(x)  t = f32[3,2,2,2] transpose(y), dimensions={2,3,0,1}
  d = f32[3,1,2,2] dynamic-slice(t, zero, i, zero, zero), dynamic_slice_sizes={3,1,2,2}
  f = f32[3,4] reshape(d)  low = f32[] constant(-0.5)  high = f32[] constant(0.5)
  c = f32[3,4] clamp(low, f, high)  g = f32[12] reshape(c)  o = f32[1,12,1] reshape(g)
  ROOT all = (f32[3,4], f32[12], f32[1,12,1], f32[3,2,2,2]) tuple(c, g, o, t)""",
    "empty": """\
  x = f32[0,3] parameter(0)  s = f32[] parameter(1)  y = f32[4,3] parameter(2)
  zero = f32[] constant(0)  n = f32[] negate(s)
  c = f32[4,3] concatenate(x, y), dimensions={0}  t = f32[3,0] transpose(x), dimensions={1,0}
  r = f32[3] reduce(x, zero), dimensions={0}, to_apply=add  k = f32[2,3,0] broadcast(t), dimensions={1,2}
  none = () tuple()
  ROOT all = (f32[], f32[4,3], f32[3,0], f32[3], (), f32[2,3,0]) tuple(n, c, t, r, none, k)""",
    "constants": """\
  x = f32[2,3] parameter(0)  k = f32[2,3] constant({{1,2,3},{4,5,6}})
  n = s32[3,2] iota(), iota_dimension=0  m = f32[3,2] convert(n)
  t = f32[2,3] transpose(m), dimensions={1,0}  y = f32[2,3] add(x, k)
  ROOT z = f32[2,3] multiply(y, t)""",
}
"""By name, the lines of the entry."""


def text_of(name: str) -> str:
    """The text of a program."""
    lines = PROGRAMS[name].strip().splitlines()
    return f"HloModule {name}\n{COMPUTATIONS}ENTRY main {{\n" + "\n".join(lines) + "\n}\n"


def flat_module(name: str) -> ModuleOp:
    """A program without calls and tuples."""
    module = load_program(text_of(name), "hlo")
    PassManager(make_context()).run(module, parse_passes("xla-inline,xla-flatten-tuples"))
    return module


Choose = Callable[[Array], Layout | None]
"""The layout for an array of a type; None for the default one."""


def in_layouts(module: ModuleOp, choose: Choose, *, inside: bool = True) -> ModuleOp:
    """A flat module with a layout for every array, or for parameters and results only."""
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    for op in tuple(function.walk()):
        for result in tuple(op.results) if inside else ():
            _retype(result, choose)
        for region in op.regions if inside or op is function else ():
            for argument in tuple(region.block.args):
                _retype(argument, choose)
    block = function.body.block
    last = block.last_op
    assert last is not None
    for index, value in enumerate(tuple(last.operands)):
        copy = CopyOp.make([value], {})
        block.insert_op_before(copy, last)
        last.operands[index] = _retype(copy.result, choose)
    function.properties["function_type"] = FunctionType.from_lists(
        [argument.type for argument in block.args], [value.type for value in last.operands]
    )
    return module


def _retype(value: SSAValue, choose: Choose) -> SSAValue:
    if not is_array(value.type):
        return value
    type_ = cast(Array, value.type)
    layout = choose(type_)
    if layout is None:
        return value
    encoding = LayoutAttr(layout)
    new = array(type_.element_type, type_.get_shape(), encoding)
    return Rewriter.replace_value_with_new_type(value, new)


def descending(type_: Array) -> Layout:
    """The default layout, written out."""
    return Layout.default(len(type_.shape))


def ascending(type_: Array) -> Layout:
    """Column-major."""
    return Layout(tuple(range(len(type_.shape))))


def padded(type_: Array) -> Layout:
    """Column-major, and every dimension wider than it is."""
    sizes = type_.get_shape()
    if not sizes:
        return Layout(())
    widths = tuple(size + 1 + d for d, size in enumerate(sizes))
    return Layout(tuple(range(len(sizes))), padded_dimensions=widths, padding_value="ZERO_PAD")


def tiled(type_: Array) -> Layout:
    """Tiles that do not fit."""
    return Layout(tuple(reversed(range(len(type_.shape)))), tiles=((2, 3),))


def mixed(seed: int) -> Choose:
    """A layout of any kind, drawn for each array."""
    random = Random(seed)

    def choose(type_: Array) -> Layout | None:
        sizes = type_.get_shape()
        order = random.sample(range(len(sizes)), len(sizes))
        match random.randrange(6):
            case 0:
                return None
            case 1:
                widths = tuple(size + random.randrange(3) for size in sizes)
                return Layout(tuple(order), padded_dimensions=widths)
            case 2:
                tiles = [(random.randint(1, 3), random.randint(1, 4))]
                if random.random() < 0.3:
                    tiles.append((2, 1))
                return Layout(tuple(order), tiles=tuple(tiles), memory_space=1)
            case 3:
                return Layout(tuple(order), tail_padding_alignment_in_elements=8)
            case _:
                return Layout(tuple(order))

    return choose


STYLES: dict[str, Choose] = {
    "descending": descending,
    "ascending": ascending,
    "padded": padded,
    "tiled": tiled,
    "mixed": mixed(0),
}


def bytes_moved(module: ModuleOp) -> int:
    """What copies and transposes of a module at the xla level move."""
    blocks = [op.body.block for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    return sum(bytes_moved_by(op, declared_order) for block in blocks for op in movers(block))
