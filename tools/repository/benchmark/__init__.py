"""What `tools.repository.benchmark` measures, and how."""
