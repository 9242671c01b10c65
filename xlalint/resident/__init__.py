"""A process that stays after a run and does the next ones in its folder: `check --resident`. It has imported what a run
needs, and keeps the files that it read. Only the user who started it can reach it, and it ends by itself.

`meeting` says where both ends meet, `client` asks, `service` stays and answers. The client imports nothing of xlalint
but `meeting`.
"""
