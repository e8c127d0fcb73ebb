"""A cassette as text that git can diff: parts told once, replies folded without loss."""
