def greet(name):
    """Return a greeting for a name."""
    return "Hello, " + name + "!"
