"""Running compiled programs in this process: numpy arrays in, numpy arrays out."""
