"""What the rules of operations are made of."""
