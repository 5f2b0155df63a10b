"""JAX's own tests on our device and on XLA's CPU: run, counted, and their exceptions explained."""
