"""What JAX makes of a driven function: jaxprs and their equations, and how often they are compiled."""
