"""The probe: what the compiler itself says of a function. The one part of the product that runs the user's code."""
