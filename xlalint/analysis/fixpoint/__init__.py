"""Where analysis starts, and how partitions of a project exchange summaries until nothing changes."""
