"""What a module says of its entry computation."""
