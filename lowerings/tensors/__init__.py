"""Passes on the tensors level: linalg, tensor, arith, math and scf on values."""
