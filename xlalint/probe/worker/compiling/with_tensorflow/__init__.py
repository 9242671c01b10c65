"""What TensorFlow makes of a driven function: graphs, their operations, and the programs that XLA compiles of them."""
