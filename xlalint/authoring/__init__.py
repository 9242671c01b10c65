"""For those who write rules: a new rule's file, and the trial of a rule by its own examples."""
