"""Human judgments of systems' outputs: their schema, the questions asked, and published studies."""
