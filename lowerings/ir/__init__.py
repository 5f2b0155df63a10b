"""Pieces of IR below the xla level that several passes read and write."""
