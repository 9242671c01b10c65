"""The abstract domain: values, joins and widening, operators. Imports `syntax` and `files` only."""
