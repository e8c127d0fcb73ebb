"""`evalgate baseline`: committed numbers, made, looked at and renewed."""
