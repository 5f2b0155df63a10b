"""What a profile says of a kernel besides its time: where it came from, and how much work it is."""
