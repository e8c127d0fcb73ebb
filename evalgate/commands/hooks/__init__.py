"""`evalgate hook`: the pre-push hook, installed and run."""
