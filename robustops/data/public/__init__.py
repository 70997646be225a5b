"""The public task set, from a local copy or a pinned revision to a task set on disk: tasks, seeds, split manifest.

`fetch` gets folders, `unpack` opens archives, `inventory` says what lies in them, `parts` allocates, `build` writes;
`nemo` reads and writes NeMo Gym rows.
"""
