"""Values of arrays and scalars: as numpy arrays, as bytes of attributes, and as text."""
