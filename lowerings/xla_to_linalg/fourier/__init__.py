"""Fourier transforms as loops over lines."""
