"""Chooses the schedules of linalg operations on memrefs."""
