"""Is a program ready for a TPU? A checklist, each line with its evidence and the next step."""
