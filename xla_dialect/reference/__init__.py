"""What each operation means, in numpy: one file per family, and `run` for whole modules."""

from xla_dialect.reference.interpreter import (
    ReferenceInterpreter,
    nest_arguments,
    register_reference,
    run,
)
from xla_dialect.reference.literal import (
    MEMORY_LIMIT,
    MemoryLimitError,
    Value,
    check_memory,
    element_type_of,
    flatten_results,
    from_numpy,
    literal_of,
    numpy_dtype,
    to_numpy,
)

__all__ = [
    "MEMORY_LIMIT",
    "MemoryLimitError",
    "ReferenceInterpreter",
    "Value",
    "check_memory",
    "element_type_of",
    "flatten_results",
    "from_numpy",
    "literal_of",
    "nest_arguments",
    "numpy_dtype",
    "register_reference",
    "run",
    "to_numpy",
]
