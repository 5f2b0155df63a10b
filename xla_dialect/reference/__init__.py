"""What each operation means, in numpy: one file per family, and `run` for whole modules."""

from xla_dialect.reference.interpreter import (
    ReferenceInterpreter,
    RunOptions,
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
from xla_dialect.reference.observation import Observer
from xla_dialect.reference.parallel import run_programs, run_replicated
from xla_dialect.reference.process_grid import Host
from xla_dialect.reference.programs import Program

__all__ = [
    "MEMORY_LIMIT",
    "Host",
    "MemoryLimitError",
    "Observer",
    "Program",
    "ReferenceInterpreter",
    "RunOptions",
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
    "run_programs",
    "run_replicated",
    "to_numpy",
]
