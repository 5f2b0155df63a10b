"""Collectives, transfers and random state, lowered to calls of the process that runs a program."""
