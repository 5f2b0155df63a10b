"""From the xla dialect to simpler programs in the xla dialect."""
