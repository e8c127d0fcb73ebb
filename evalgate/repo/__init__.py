"""All of git: reading trees, naming harnesses, finding the commit to compare with."""
