"""Objects of C++ as objects of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Self


class Wrapped:
    """An object that has one of C++ in it."""

    __slots__ = ("_core",)
    _core: Any
    """The object in C++."""

    @classmethod
    def _of(cls, core: Any) -> Self:
        """The object of this class that is `core` in C++."""
        made = cls.__new__(cls)
        made._core = core
        return made


class Parameter:
    """A number of an object in C++, as an attribute that is only read."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Parameter: ...
    @overload
    def __get__(self, instance: Wrapped, owner: type) -> float: ...
    def __get__(self, instance: Wrapped | None, owner: type) -> Parameter | float:
        return self if instance is None else float(getattr(instance._core, self._name))


def _key(value: Any) -> Any:
    """What is equal, and hashes alike, where the parameters are equal."""
    return (value.shape, (value + 0.0).tobytes()) if isinstance(value, np.ndarray) else value


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return " ".join(np.array2string(value, separator=", ", threshold=8, edgeitems=2).split())
    return repr(value)


class Value(Wrapped):
    """An immutable value, known by its parameters.

    Objects are equal where their parameters are, can be pickled, copied and used as keys.
    """

    __slots__ = ()
    _parameters: ClassVar[tuple[str, ...]]
    """The arguments of the constructor, each of them an attribute."""

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._parameters)

    def _keys(self) -> tuple[Any, ...]:
        return tuple(map(_key, self._values()))

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={_text(value)}" for name, value in zip(self._parameters, self._values()))
        return f"{type(self).__name__}({arguments})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._keys() == other._keys()

    def __hash__(self) -> int:
        return hash((type(self), *self._keys()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._values()
