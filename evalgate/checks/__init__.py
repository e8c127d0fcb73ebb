"""Checks: each looks at a finished trial and says passed, failed or errored."""
