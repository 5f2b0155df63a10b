"""Programs, pipelines and schedules beside each other: what `xla-compare` measures and shows."""
