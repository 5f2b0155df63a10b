"""Programs of libraries that stand on JAX, on our device beside XLA's CPU."""
