"""What is computed from human judgments: derived overalls, agreement, and raters' pseudonyms."""
