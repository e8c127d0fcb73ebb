"""What `evalgate demo` needs: an agent, its tasks, recordings of a real model."""
