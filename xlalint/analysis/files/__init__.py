"""Files, parsed lazily: units, locations, and what is read of them. Knows no names; imports `syntax`, `sources`."""
