"""TSST: rewrite a sentence while looking at similar sentences of the other style."""
