"""`evalgate cassette`: looks into recordings, moves them, and hands them to other tools."""
