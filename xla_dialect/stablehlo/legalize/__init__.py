"""
Patterns of legalization, both ways, for operations that differ in more than their classes state.

A family has a file here where it has some. `TO_XLA` of that has what its operations become.
"""

FAMILIES = frozenset(
    {
        *("chlo", "collectives", "contraction", "control_flow", "creation", "custom_calls"),
        *("data_movement", "dynamic_shapes", "elementwise", "mhlo", "program", "quantization"),
        *("sharding", "sorting", "transfers"),
    }
)
