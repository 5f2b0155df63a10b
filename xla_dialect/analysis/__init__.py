"""What several rooms ask about operations of a program."""
