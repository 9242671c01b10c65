"""The language server, driven as editors drive it."""
