"""What `tools.xla_bench` measures, and how."""
