"""A run: from paths and settings to findings, fixed or suppressed. Rules import `linter.rule`, nothing else here."""
