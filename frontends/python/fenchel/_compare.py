"""Families by their scores on rows that were held out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from . import _core
from ._arrays import RandomState, integer, seed_from, shown
from ._data import is_one_shot
from ._distribution import Distribution
from ._fit import FAMILIES, shape_of
from ._fitted import rows_of
from ._line import BetaGaussian, BetaLaplace, Triangular, Uniform


class HeldOutScore(NamedTuple):
    """How a family predicts rows that it was not fitted to; NaN where it has no fit.

    Examples
    --------
    >>> import fenchel
    >>> score = fenchel.compare([1.0, 2.0, 2.5, 3.0, 4.5, 7.0], [fenchel.Triangular], folds=2).scores[0]
    >>> score.name, score.outside, score.close
    ('Triangular', 4.0, True)
    """

    name: str
    """The family with the parameter that was given, or "auto" where it was estimated."""
    crps: float
    """The mean continuous ranked probability score: less is better."""
    log_score: float
    """The mean log density: more is better, -inf where a row is outside of the support."""
    outside: float
    """The weight of the rows outside of the support."""
    crps_difference: float
    """The crps less that of the winner."""
    crps_error: float
    """The standard error of the difference."""
    log_difference: float
    """The log score less the largest one; NaN where one of them is -inf."""
    log_error: float
    """The standard error of the difference."""
    close: bool
    """Whether the crps is less than two standard errors above that of the winner."""
    failure: str
    """Why a fold could not be fitted, else empty."""


@dataclass(frozen=True, repr=False)
class Comparison:
    """Families, the best first: what `compare` gives.

    Examples
    --------
    >>> import fenchel
    >>> x = fenchel.BetaGaussian(1, mu=5).rvs(2000, random_state=1)
    >>> found = fenchel.compare(x, [fenchel.Uniform, (fenchel.BetaGaussian, {"alpha": 1})])
    >>> found.winner, len(found.scores)
    ('BetaGaussian(alpha=1)', 2)
    """

    scores: tuple[HeldOutScore, ...]

    @property
    def winner(self) -> str:
        """The name of the family with the least crps."""
        return self.scores[0].name

    @property
    def close(self) -> tuple[str, ...]:
        """The other families whose crps is less than two standard errors above that of the winner."""
        return tuple(score.name for score in self.scores[1:] if score.close)

    def __repr__(self) -> str:
        width = max(len("family"), *(len(score.name) for score in self.scores))
        heads = ["crps", "difference", "error", "log score", "difference", "error", "outside"]
        lines = [f"{'family':<{width}}" + "".join(f"  {head:>10}" for head in heads)]
        for s in self.scores:
            numbers = [
                s.crps, s.crps_difference, s.crps_error, s.log_score, s.log_difference, s.log_error, s.outside
            ]
            lines.append(f"{s.name:<{width}}" + "".join(f"  {number:>10.4g}" for number in numbers))
        return "\n".join(lines)


_DEFAULT: tuple[Any, ...] = (
    (BetaGaussian, {"alpha": 1}), (BetaGaussian, {"alpha": 4 / 3}), (BetaGaussian, {"alpha": 3 / 2}),
    (BetaGaussian, {"alpha": 2}), (BetaGaussian, {"alpha": "auto"}), Uniform, (BetaLaplace, {"alpha": 1}), Triangular,
)


def _choice(family: Any) -> tuple[str, str, float | None]:
    """What messages call the family, the name of its fit in C++, and its shape."""
    kind, fixed = family if isinstance(family, tuple) and len(family) == 2 else (family, {})
    entry = FAMILIES.get(kind) if isinstance(kind, type) and issubclass(kind, Distribution) else None
    if entry is None or entry.functions or entry.fit.__name__ == "fit_multivariate_beta_gaussian":
        raise TypeError(f"compare: families must be of one column and known to fit, got {shown(family)}")
    shape = shape_of(kind.__name__, entry, dict(fixed))
    name: str = kind.__name__
    if entry.shape:
        name += f"({entry.shape}={'auto' if shape is None else format(shape, '.4g')})"
    return name, entry.fit.__name__.removeprefix("fit_"), shape


def compare(
    data: Any, families: Iterable[Any] = _DEFAULT, *, weights: npt.ArrayLike | str | None = None,
    columns: Sequence[str | int] | None = None, folds: int = 10, seed: RandomState = 0,
) -> Comparison:
    """Compare families by their scores on rows that were held out: cross-validation.

    The rows are put into folds at random. Each family is fitted to all folds but one, and scores the rows of that one.
    Families of moments take one pass over the data for all folds.

    Parameters
    ----------
    data : array_like, or data that can be read several times
        One column, as `fit` takes it.
    families : iterable of type or (type, dict)
        Classes that `fit` takes, of one column, each alone or with what is fixed, such as ``(BetaGaussian, {"alpha":
        1.5})``. All are of numbers, or all of counts. Gaussian, triweight, biweight, parabola, a beta-Gaussian whose
        alpha is estimated, uniform, Laplace and triangular unless given.
    weights : array_like or str, optional
        One for each row, not negative, or the name of the column that holds them: a row of weight w counts as w rows.
    columns : sequence of str or int, optional
        Which column of a table, in a sequence.
    folds : int
        How many, 2 at least.
    seed : int, numpy Generator or None
        Of the fold that each row is in. None is a new one.

    Returns
    -------
    Comparison
        The scores, the best first by the continuous ranked probability score, which is finite for every row. The log
        score is -inf for a family with a row outside of its support. Each score has its difference to the best one, with
        the standard error of that difference.

    Raises
    ------
    ValueError
        For data that cannot be used, for families of counts and of numbers together, and where none has a fit.
    TypeError
        For what is no such family.

    Examples
    --------
    >>> import fenchel
    >>> x = fenchel.BetaGaussian(2, mu=5).rvs(20000, random_state=1)
    >>> found = fenchel.compare(x, [(fenchel.BetaGaussian, {"alpha": 1}), fenchel.BetaGaussian, fenchel.Triangular])
    >>> found.winner, found.close
    ('BetaGaussian(alpha=2)', ())
    >>> [(score.name, round(score.crps, 4)) for score in found.scores]
    [('BetaGaussian(alpha=2)', 0.294), ('Triangular', 0.2943), ('BetaGaussian(alpha=1)', 0.2949)]
    """
    choices = [_choice(family) for family in families]
    if is_one_shot(data):
        raise TypeError(f"compare: data must be a table or an array, got {shown(data)} that is read once")
    run: Any = _core.compare
    found = run(choices, *rows_of(data, weights, 1, columns), integer("folds", folds), seed_from(seed))
    return Comparison(
        tuple(HeldOutScore._make([name, *numbers, close, failure]) for name, numbers, close, failure in found)
    )
