"""The wire between an agent and its model: recorded, replayed, and read as the witness."""
