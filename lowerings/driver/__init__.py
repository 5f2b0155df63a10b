"""What reads programs, makes contexts and runs passes over modules."""
