"""What the probe does, beginning with what it reads and ending with real code."""
