"""Systems that transfer style, and the trainers of the scorers."""
