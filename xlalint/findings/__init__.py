"""What is reported: findings, the codes of rules, and where the files of rules are. Imports nothing of the tool."""
