"""From linalg on memrefs to loops over scalars and vectors; mathematical functions inline."""
