"""What TensorFlow and XLA print when they refuse code, led back to the rule, the user's line and the rewrite."""
