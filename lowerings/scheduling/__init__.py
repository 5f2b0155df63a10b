"""How users say schedules: by functions in Python, and by scripts of the transform dialect."""
