"""One module per output format; each knows findings and nothing else."""
