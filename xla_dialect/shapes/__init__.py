"""How sizes of arrays follow from each other: windows, broadcasting, dynamic sizes."""
