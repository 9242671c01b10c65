"""What something may be called with: the parameters to fill, tensors and objects to fill them with, and a search
that the errors of eager calls guide. Imports `code`.
"""
