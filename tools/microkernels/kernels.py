"""The kernels of the ladder, as HLO text: from filling a matrix to pooling over windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TYPES = ("f64", "f32")

_SCALAR_FUNCTION = """
{name} {{
  x = {T}[] parameter(0)
  y = {T}[] parameter(1)
  ROOT z = {T}[] {opcode}(x, y)
}}
"""


@dataclass(frozen=True)
class Kernel:
    """A program with one result of `n` by `n` elements."""

    entry: str
    """The instructions; `{T}` is the element type, `{n}` and `{m}` are `n` and `n + 2`."""
    combiner: str = ""
    """The opcode of the computation `combine` that it calls."""

    def text(self, element_type: str, size: int) -> str:
        """HLO text for an element type and a size of at least 1."""
        words = {"T": element_type, "n": size, "m": size + 2}
        function = _SCALAR_FUNCTION.format(name="combine", opcode=self.combiner, T=element_type)
        body = self.entry.strip().format(**words)
        return f"HloModule kernel\n{function if self.combiner else ''}\nENTRY main {{\n{body}\n}}\n"


_POOL = """
  x = {{T}}[{{m}},{{m}}] parameter(0)
  first = {{T}}[] constant({first})
  ROOT y = {{T}}[{{n}},{{n}}] reduce-window(x, first), window={{{{size=3x3}}}}, to_apply=combine
"""

_MATMUL = """
  a = {{T}}[{{n}},{{n}}] parameter(0)
  b = {{T}}[{{n}},{{n}}] parameter(1)
  ROOT c = {{T}}[{{n}},{{n}}] dot(a, b), \
lhs_contracting_dims={{{{1}}}}, rhs_contracting_dims={{{{{right}}}}}
"""

KERNELS: Mapping[str, Kernel] = {
    "fill": Kernel("""
  x = {T}[] parameter(0)
  ROOT y = {T}[{n},{n}] broadcast(x), dimensions={{}}
"""),
    "sum": Kernel("""
  a = {T}[{n},{n}] parameter(0)
  b = {T}[{n},{n}] parameter(1)
  ROOT c = {T}[{n},{n}] add(a, b)
"""),
    "relu": Kernel("""
  x = {T}[{n},{n}] parameter(0)
  zero = {T}[] constant(0)
  zeros = {T}[{n},{n}] broadcast(zero), dimensions={{}}
  ROOT y = {T}[{n},{n}] maximum(x, zeros)
"""),
    "matmul": Kernel(_MATMUL.format(right=0)),
    "matmul_t": Kernel(_MATMUL.format(right=1)),
    "conv_3x3": Kernel("""
  x = {T}[1,1,{m},{m}] parameter(0)
  w = {T}[1,1,3,3] parameter(1)
  ROOT y = {T}[1,1,{n},{n}] convolution(x, w), window={{size=3x3}}, dim_labels=bf01_oi01->bf01
"""),
    "max_pool_3x3": Kernel(_POOL.format(first="-inf"), "maximum"),
    "sum_pool_3x3": Kernel(_POOL.format(first="0"), "add"),
}
"""By name, in the order of the ladder."""
