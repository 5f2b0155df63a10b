"""Who decides schedules: the planner, files, functions in Python, and transform scripts."""
