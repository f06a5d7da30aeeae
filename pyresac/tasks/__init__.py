"""What an agent sees of a problem: Gymnasium environments, the corridor, and their saved states."""
