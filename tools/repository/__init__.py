"""What serves this repository only, and is not installed: measurements, demos, pages."""
