"""What the wire saw: turns, tool calls, tokens, the answer."""
