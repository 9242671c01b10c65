"""One analysis of where selected rows go: through names, methods and helpers, to where their number stops mattering."""
