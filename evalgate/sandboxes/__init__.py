"""Rooms in which one program of one stage runs, and how each kind keeps it inside."""
