"""What the linter survives: broken and hostile input, faults of the system, and interruptions. See README.md here."""
