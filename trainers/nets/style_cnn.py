"""TYB's style classifier: convolutions over word pieces (Lai et al. 2021, released TextCNN)."""

from __future__ import annotations

from torch import Tensor, nn

from .text_cnn import TextCnn

WIDTHS = (1, 2, 3, 4, 5)


class StyleCnn(nn.Module):
    """Logits of two styles for rows of ids.

    Args:
        n_words: V, size of the vocabulary.
        dimension: of the word vectors, drawn from N(0, 1 / sqrt(dimension)).
        filters: for each width.
        dropout: before each linear layer.
    """

    def __init__(
        self, n_words: int, *, dimension: int = 300, filters: int = 128, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.vectors = nn.Embedding(n_words, dimension)
        nn.init.normal_(self.vectors.weight, std=dimension**-0.5)
        self.text = TextCnn(dimension, WIDTHS, filters)
        half = self.text.features // 2
        self.head = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(self.text.features, half),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(half, 2),
        )

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B, 2) of ids (B, T), of which the first ``lengths`` (B), at least 1, count."""
        logits: Tensor = self.head(self.text(self.vectors(ids), lengths.clamp(min=1)))
        return logits
