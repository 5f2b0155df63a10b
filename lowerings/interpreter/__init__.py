"""Running programs below the xla level in numpy: tensors, buffers and loops as they are printed."""

from lowerings.interpreter.elements import IterationLimitReached, UndefinedBehavior
from lowerings.interpreter.program import InterpretedProgram

__all__ = [
    "InterpretedProgram",
    "IterationLimitReached",
    "UndefinedBehavior",
]
