"""The run-time environment of a program on any executor: limits, callbacks, observations."""
