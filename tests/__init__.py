"""The tests of xlalint."""
