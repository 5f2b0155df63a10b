"""The building blocks of the rules of operations: structure and constraints."""
