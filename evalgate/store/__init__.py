"""Text on disk and core values: run folders, baselines, the ledger."""
