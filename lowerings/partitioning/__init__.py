"""From one program and shardings of its arrays to the program of each device."""
