"""Meta-evaluation: how far metrics agree with people's judgments of the same outputs."""
