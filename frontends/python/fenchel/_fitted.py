"""What a fit gives: the distribution, its estimates with their errors, how good it is, and where to go on from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, RandomState, integer, reals, seed_from, shown
from ._data import whole
from ._distribution import Distribution
from ._goodness import ConfidenceInterval, Goodness
from ._model import distribution_from_dict, distribution_to_dict
from ._space import MultivariateBetaGaussian
from ._statistics import check_columns, check_weights, weights_of

D = TypeVar("D", bound=Distribution)


def rows_of(
    data: Any, weights: npt.ArrayLike | str | None, count: int | None,
    columns: Sequence[str | int] | None = None,
) -> tuple[Any, Any, Any]:
    """All of data, weights and names, as C++ takes them; `count` columns, or any where it is None."""
    rows, names, own = whole(data, count == 1, columns, weights)
    if count is not None:
        check_columns(names, count)
    per_row = weights_of(weights) if own is None else own
    check_weights(per_row, len(rows))
    return rows, per_row, names


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Generic[D]):
    """A distribution fitted to data, and how well it is known: what `fit` gives.

    Examples
    --------
    >>> import fenchel
    >>> result = fenchel.fit(fenchel.BetaGaussian, [1.0, 2.0, 3.0, 4.0], alpha=1)
    >>> result.distribution
    BetaGaussian(alpha=1.0, mu=2.5, sigma2=1.25)
    >>> dict(zip(result.names, result.standard_errors.round(3).tolist()))
    {'mu': 0.559, 'sigma2': 0.884}
    """

    distribution: D
    names: tuple[str, ...]
    """Of the parameters that were estimated."""
    parameters: FloatArray
    """Their estimates."""
    _covariance: FloatArray | Callable[[], FloatArray]
    standard_errors: FloatArray
    """The square roots of the diagonal of `covariance`."""
    loss: float
    """The mean cross-Omega loss reached."""
    weight: float
    """Of all rows."""
    _rows: Callable[[], tuple[Any, Any, Any]] | None = None
    """The data as C++ takes it, where it can be read again."""
    _shape: tuple[float | None] | None = None
    """What draws of the fit are fitted with, where they can be."""

    @property
    def covariance(self) -> FloatArray:
        """Of the estimators, for large samples from the fitted family; infinite or NaN where there is none.

        On R^N it has (N (N + 3) / 2)^2 entries, 3 GB for N = 200, and is computed when it is first asked for.
        """
        covariance = self._covariance
        if callable(covariance):
            covariance = covariance()
            object.__setattr__(self, "_covariance", covariance)
        return covariance

    @property
    def log_likelihood(self) -> float:
        """Of the data, -inf where a row lies outside of the support: see `goodness`."""
        return self._found.log_likelihood

    @property
    def aic(self) -> float:
        """Akaike's information criterion, 2 k - 2 `log_likelihood` for k parameters that were estimated."""
        return self._found.aic

    @property
    def bic(self) -> float:
        """The Bayesian information criterion, k log(`weight`) - 2 `log_likelihood`."""
        return self._found.bic

    @property
    def crps(self) -> float:
        """The mean continuous ranked probability score, which compares families and alphas."""
        return self._found.crps

    @property
    def outside(self) -> float:
        """The weight of the rows outside of the support."""
        return self._found.outside

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the fit doubtful, in words.

        Rows outside of the support, a standard error that is larger than its estimate or does not exist, alpha at the
        end of its range, fewer rows than standard errors need, and data that does not look like draws of the fit.

        Examples
        --------
        >>> import fenchel
        >>> print(*fenchel.fit(fenchel.BetaGaussian, [1.0, 2.0, 3.0, 5.0], alpha=1).warnings)
        4 rows are fewer than the 20 that standard errors need
        """
        return self._found.warnings

    @property
    def _found(self) -> Goodness:
        """Of the data of the fit, computed when it is first asked for."""
        found = self.__dict__.get("_goodness")
        if found is None:
            found = self.goodness()
            object.__setattr__(self, "_goodness", found)
        return found

    def goodness(
        self, data: Any = None, *, weights: npt.ArrayLike | str | None = None, bootstrap: int = 0, seed: RandomState = 0
    ) -> Goodness:
        """How good the fit is: likelihood, scores, distances from the data, and warnings in words.

        Parameters
        ----------
        data : array_like, optional
            Data in place of that of the fit; needed where the fit was made from statistics, from a stream that is read
            once, or was pickled.
        weights : array_like, optional
            Of `data`, one for each row.
        bootstrap : int
            How many samples are drawn from the fit and fitted again, for p-values of the two distances. A p-value is
            the share of samples, the data being one, that are as far from their fits. Tables of these distances do not
            hold after a fit.
        seed : int, numpy Generator or None
            Of the draws, which do not depend on the number of threads. None is a new one.

        Returns
        -------
        Goodness
            What was found. Distances keep 2^17 different values of the distribution function at most, 5 MB; with more
            data they err by some 1e-4.

        Raises
        ------
        ValueError
            Where there is no data to read, and for data that cannot be used.
        TypeError
            For a bootstrap in R^N, or of a family that is made of functions.

        Examples
        --------
        >>> import fenchel
        >>> x = fenchel.BetaGaussian(1.5, mu=5, sigma2=2).rvs(398, random_state=3)
        >>> found = fenchel.fit(fenchel.BetaGaussian, x, alpha=1).goodness(bootstrap=199, seed=1)
        >>> round(found.log_likelihood, 2), round(found.kolmogorov_smirnov, 3), found.p_values["anderson_darling"]
        (-522.48, 0.044, 0.005)
        """
        if data is not None:
            one = not isinstance(self.distribution, MultivariateBetaGaussian)
            rows = rows_of(data, weights, 1 if one else None)
        elif weights is not None:
            raise TypeError("goodness: weights are those of data, which is not given")
        elif self._rows is None:
            raise ValueError("goodness: data must be given: the fit was made without it, or was pickled")
        else:
            rows = self._rows()
        run: Any = _core.goodness
        numbers, warnings = run(
            self.distribution._core, list(self.names), self.parameters.tolist(), self.standard_errors.tolist(),
            self.loss, *rows,
        )
        fields: list[Any] = [*numbers, tuple(warnings)]
        found = Goodness(*fields)
        if integer("bootstrap", bootstrap) == 0:
            return found
        draws = self._bootstrap(found, bootstrap, seed)
        return replace(
            found, p_values={"kolmogorov_smirnov": draws[0], "anderson_darling": draws[1]}, failed=draws[3]
        )

    def _bootstrap(self, found: Goodness, replicates: int, seed: RandomState) -> tuple[float, float, FloatArray, int]:
        """Both p-values, the parameters of the fits to draws, and how many samples have none."""
        if self._shape is None:
            raise TypeError(f"bootstrap: {type(self.distribution).__name__} cannot be drawn from and fitted again")
        run: Any = _core.bootstrap
        drawn: tuple[float, float, FloatArray, int] = run(
            self.distribution._core, *self._shape, self.weight, found.kolmogorov_smirnov, found.anderson_darling,
            integer("bootstrap", replicates), seed_from(seed),
        )
        return drawn

    def confidence_interval(
        self, level: float = 0.95, method: Literal["wald", "bootstrap"] = "wald", *, bootstrap: int = 999,
        seed: RandomState = 0,
    ) -> ConfidenceInterval:
        """Confidence intervals of the parameters, in the order of `names`.

        Parameters
        ----------
        level : float
            How often such an interval has the parameter in it, above 0 and below 1.
        method : {"wald", "bootstrap"}
            "wald" is the estimate -+ z standard errors, for large samples. "bootstrap" draws samples from the fit and
            fits each again: the interval is between quantiles of the estimates.
        bootstrap : int
            How many samples are drawn.
        seed : int, numpy Generator or None
            Of the draws.

        Returns
        -------
        ConfidenceInterval
            Arrays ``low`` and ``high``.

        Examples
        --------
        >>> import fenchel
        >>> x = fenchel.BetaGaussian(1.5, mu=5, sigma2=2).rvs(398, random_state=3)
        >>> found = fenchel.fit(fenchel.BetaGaussian, x, alpha=1)
        >>> found.names, found.confidence_interval().low.round(2), found.confidence_interval().high.round(2)
        (('mu', 'sigma2'), array([4.89, 0.7 ]), array([5.06, 0.92]))
        >>> found.confidence_interval(0.9, "bootstrap", bootstrap=199).low.round(2)
        array([4.91, 0.72])
        """
        (share,) = reals(level=level)
        if method == "wald":
            ends = _core.wald_intervals(self.parameters.tolist(), self.standard_errors.tolist(), share)
        elif method == "bootstrap":
            ends = _core.percentile_intervals(self._bootstrap(self._found, bootstrap, seed)[2], share)
        else:
            raise ValueError(f"method must be 'wald' or 'bootstrap', got {shown(method)}")
        return ConfidenceInterval(*ends)

    def to_dict(self) -> dict[str, Any]:
        """The fit as JSON holds it: a model, as the command's ``fit -o model.json`` writes it, with all its digits.

        ``fenchel density``, ``sample``, ``loss``, ``plot density`` and ``plot fit`` take the file that ``json.dump`` makes
        of it. `covariance` is left out. A TypeError for families made of functions.

        >>> import fenchel, json
        >>> text = json.dumps(fenchel.fit(fenchel.SparsePoisson, [0, 1, 2], alpha=1).to_dict())
        >>> Fit.from_dict(json.loads(text)).distribution
        SparsePoisson(alpha=1.0, mu=1.0)
        """
        return distribution_to_dict(
            self.distribution, self.names, self.parameters, self.standard_errors, self.loss, self.weight
        )

    @staticmethod
    def from_dict(model: Mapping[str, Any]) -> Fit[Any]:
        """The fit that `to_dict` or the command has written, ``Fit.from_dict(json.load(file))``.

        Of `covariance` only the diagonal is known, and the rest is NaN. A ValueError names the key that is missing or bad.
        """
        p, names, estimates, errors, loss, weight = distribution_from_dict(model)
        covariance = np.full((len(names), len(names)), np.nan)
        np.fill_diagonal(covariance, errors**2)
        return Fit(p, names, estimates, covariance, errors, loss, weight)

    def plot(self, data: Any, *, weights: npt.ArrayLike | str | None = None, ax: Sequence[Any] | None = None) -> Any:
        """Draw the fit and data with matplotlib: a histogram and the density, quantiles, and shares up to each value.

        On the first Axes is a histogram with the density and its support; crosses are data outside of the support. On
        the second are the values against the quantiles of the distribution at their ranks, and on the third the shares
        of the data up to each value against those of the distribution: points on the line say that it is the law of
        the data.

        Parameters
        ----------
        data : array_like, or data in batches
            One column, as `fit` takes it; it need not be that of the fit.
        weights : array_like, optional
            One for each row, not negative.
        ax : three matplotlib Axes, optional
            Where to draw; those of a new figure unless given.

        Returns
        -------
        ndarray of matplotlib Axes
            The three.
        """
        from ._plot_fit import draw

        rows, per_row, _ = rows_of(data, weights, 1)
        return draw(self.distribution, rows[:, 0], per_row, ax)

    def __getstate__(self) -> dict[str, Any]:
        # Functions cannot be pickled, and data is not.
        return {**self.__dict__, "_covariance": self.covariance, "_rows": None}

    def __repr__(self) -> str:
        width = max(len(name) for name in ("parameter", *self.names))
        lines = [f"Fit of {self.distribution!r}", f"{'parameter':<{width}}  {'estimate':>12}  {'standard error':>14}"]
        for name, estimate, error in zip(self.names, self.parameters, self.standard_errors):
            lines.append(f"{name:<{width}}  {estimate:>12.6g}  {error:>14.3g}")
        return "\n".join([*lines, f"loss {self.loss:.6g}, weight {self.weight:.12g}"])
