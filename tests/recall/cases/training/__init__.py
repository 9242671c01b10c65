"""Training whose steps are passed between modules, with data of other sizes from step to step."""
