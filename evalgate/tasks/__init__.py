"""Task formats: from files to `evalgate.core.task.Task`."""
