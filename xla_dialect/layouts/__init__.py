"""Layouts of arrays: what they say, where elements lie in memory, and XLA's functions of shapes."""
