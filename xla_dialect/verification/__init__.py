"""Checking programs against the rules of their operations."""
