"""What people look at: the leaderboard and the annotation page."""
