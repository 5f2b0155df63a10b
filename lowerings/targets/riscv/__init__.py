"""
RISC-V assembly through xDSL's own backend: its dialects, conversions and register allocator, and
what they lack.
"""
