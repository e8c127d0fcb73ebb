"""`evalgate doctor`: looks at a project and its machine, and says what would mend what is wrong."""
