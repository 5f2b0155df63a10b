"""Making a program small that shows a fault, and finding the step that made it."""

from lowerings.delta_debugging.reducer import Progress, Reducer

__all__ = ["Progress", "Reducer"]
