"""Attributes of parameters that say whose memory results take, named without loading xDSL."""

ALIASING_OUTPUT = "tf.aliasing_output"
"""The attribute of a parameter that says which result is in its memory, by number."""

BUFFER_DONOR = "jax.buffer_donor"
"""The attribute of a parameter whose memory may be used, for no result in particular."""
