"""A training script of flax on our device and on XLA's, with a pass of the user's in the middle."""
