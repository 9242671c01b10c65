"""One module per output format: a report and what is around it (sources, paint) to text. Imports `linter` and below."""
