"""Programs of the dialect, built from Python, after the `XlaBuilder` of XLA.

>>> import numpy as np
>>> from xla_dialect.builder import XlaBuilder
>>> from xla_dialect.reference import run
>>> b = XlaBuilder("softmax")
>>> x = b.parameter(0, "f32[2,3]", "x")
>>> bias = b.parameter(1, "f32[3]", "bias")
>>> logits = b.add(x, bias, broadcast_dimensions=[1])
>>> largest = b.reduce(logits, -np.inf, b.max, dimensions=[1])
>>> powers = b.exp(b.sub(logits, largest, broadcast_dimensions=[0]))
>>> sums = b.reduce(powers, 0, lambda total, power: total + power, dimensions=[1])
>>> module = b.build(b.div(powers, sums, broadcast_dimensions=[0]))
>>> (result,) = run(module, [np.zeros((2, 3), np.float32), np.log(np.float32([1, 2, 5]))])
>>> print(result.round(3))
[[0.125 0.25  0.625]
 [0.125 0.25  0.625]]

A builder has one method per operation of XLA's `XlaBuilder`, named as there in snake case (with a
trailing underscore where Python has the word: `and_`, `not_`, `while_`), with arguments in the same
order. It appends the operation, infers its type and checks every constraint at once; a `BuildError`
says which one does not hold and points at the line of the call.

- Types are given as HLO spells them (`"f32[4,8]"`, `"(s32[], pred[4])"`), as MLIR types, as element
  type and sizes (`(np.float32, (4, 8))`), or as anything that has `dtype` and `shape`.
- A Python number stands for a scalar constant of the element type of the operand beside it.
  `constant` makes values of all else.
- Broadcasting is implicit for scalars and sizes of 1 only; arrays of different rank need
  `broadcast_dimensions`: docs/specification/broadcasting.md.
- Dimensions may be counted from the end, -1 is the last; not in `broadcast_dimensions`, nor in the
  dimension numbers of gather and scatter.
- Values have operators, see `XlaValue`.
- Computations are Python functions of values: `lambda a, b: a + b`, or a method, `b.add`. What they
  append becomes the region of the operation, which may use values from around it. A program that
  another builder built is one as well: `build_computation`.
- Where HLO gives a tuple of several results, methods give a Python tuple of values; one operand
  gives one value, a sequence of operands gives a tuple of values.
"""

from xla_dialect.builder.arguments import BuildError
from xla_dialect.builder.array_methods import DotDimensionNumbers, PaddingDimension
from xla_dialect.builder.communication import ChannelHandle
from xla_dialect.builder.recorder import Computation, XlaComputation, XlaValue
from xla_dialect.builder.xla_builder import XlaBuilder

__all__ = [
    "BuildError",
    "ChannelHandle",
    "Computation",
    "DotDimensionNumbers",
    "PaddingDimension",
    "XlaBuilder",
    "XlaComputation",
    "XlaValue",
]
