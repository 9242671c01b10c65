"""From paths to text: which files there are, what they hold, and what their comments suppress."""
