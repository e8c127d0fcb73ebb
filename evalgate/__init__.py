"""The gate between an edited prompt and an agent that works."""

