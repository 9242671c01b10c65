"""The rules: one file each, installed as `xlalint.rules`."""
