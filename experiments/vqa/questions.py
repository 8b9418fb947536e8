"""What both data sets are made of: images, questions about them, and the objects that a question is about."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch


@dataclass(frozen=True)
class Questions:
    """N images with O objects each, and Q questions about them."""

    images: torch.Tensor
    """(N, 3, H, W), of uint8."""
    objects: torch.Tensor
    """(N, O, H, W), of bool: the pixels of each object."""
    image: torch.Tensor
    """(Q,): which image a question is about."""
    words: torch.Tensor
    """(Q, T): places in the vocabulary; 0 is no word."""
    answer: torch.Tensor
    """(Q,): places among the answers."""
    kind: torch.Tensor
    """(Q,): places among the kinds of questions."""
    asked: torch.Tensor
    """(Q, O), of bool: the object that the question names."""
    answering: torch.Tensor
    """(Q, O), of bool: the objects that the answer is about."""

    def __len__(self) -> int:
        return len(self.answer)

    def to(self, device: torch.device) -> Questions:
        return replace(self, **{field.name: getattr(self, field.name).to(device) for field in fields(self)})

    def region(self, questions: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """(..., H, W), of bool: the pixels of the objects that `chosen`, (Q, O), names for each of the questions."""
        pixels = self.objects[self.image[questions]]
        return (pixels & chosen[questions][..., None, None]).any(-3)


@dataclass(frozen=True)
class DataSet:
    """Questions to learn from and questions to be asked, in the words of one vocabulary."""

    name: str
    train: Questions
    test: Questions
    vocabulary: list[str]
    """Its first entry stands for no word."""
    answers: list[str]
    kinds: list[str]
    sorts: dict[str, list[str]]
    """Kinds that belong together, by a name for them."""

    def to(self, device: torch.device) -> DataSet:
        return replace(self, train=self.train.to(device), test=self.test.to(device))

    def text(self, words: torch.Tensor) -> str:
        """The question with these words."""
        return " ".join(self.vocabulary[word] for word in words.tolist() if word > 0)
