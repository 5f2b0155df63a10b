"""Attributes of a module that concern its entry computation."""
