"""The training command: its agents, run folder, checkpoints, logs, signals and progress."""
