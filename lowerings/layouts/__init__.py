"""Layouts of arrays: chosen at the xla level, then made of dimensions in memory order."""
