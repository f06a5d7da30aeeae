"""What every training command shares: run folder, checkpoints, logs, signals, progress. No agent is named here."""
