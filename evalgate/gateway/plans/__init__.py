"""Fault plans that come with evalgate, one TOML file each."""
