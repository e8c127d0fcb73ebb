"""Adapters: how an agent program is started and told its model."""
