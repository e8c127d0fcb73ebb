"""Model APIs: what each says in a request and a reply."""
