"""What the image of a trial is built from, and the canary that is laid into it."""
