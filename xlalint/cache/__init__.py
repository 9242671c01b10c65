"""What is kept from run to run: sealed files by key, and keys that digest the tool itself. Worthless content is passed
over. Imports `sources`, and of `findings` only where the files of rules are.
"""
