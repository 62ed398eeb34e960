"""Systems that transfer style, and how they are trained."""
