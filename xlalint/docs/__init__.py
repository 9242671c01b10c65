"""The documentation: its pages (the Markdown files here), what writes the others from the code, and their building.

Sphinx builds the site, with MyST for Markdown: it is maintained, makes every doubtful reference a warning and every
warning an error, its search needs no server, and extensions may bring pages of their own, as those of the 3,900 calls.
Of its themes PyData's is tried for accessibility. Nothing that is generated is kept in the tree or in the wheel: that
would be 70 MB. The wheel brings the sources, and `xlalint docs` builds from them what fits the installed version.
"""
