"""The language server: what an editor shows and offers of findings, on text that is not saved."""
