"""Dialects of xDSL, extended where lowerings need more of them than xDSL has."""
