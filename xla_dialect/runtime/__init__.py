"""What a run of a program has, whoever executes it: limits, functions, observations."""
