"""Rewrites as edits of the text, with how safe each is. Rules ask for them; imports `analysis`, `syntax`, `facts`."""
