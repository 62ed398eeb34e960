"""What is computed from human judgments: overall scores, agreement, and raters' pseudonyms."""
