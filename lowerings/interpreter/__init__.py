"""Running programs below the xla level in numpy: tensors, buffers and loops as they are printed."""

from lowerings.interpreter.errors import IterationLimitReached, UndefinedBehavior
from lowerings.interpreter.program import InterpretedProgram, level_of

__all__ = [
    "InterpretedProgram",
    "IterationLimitReached",
    "UndefinedBehavior",
    "level_of",
]
