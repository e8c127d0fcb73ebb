"""What `evalgate init` lays into a repository: an image and a workflow."""
