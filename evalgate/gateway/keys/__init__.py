"""What a request is matched by: canonical, cleaned, chained."""
