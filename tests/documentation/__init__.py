"""The documentation: what it shows is what the commands print, and the site that is built of it holds together."""
