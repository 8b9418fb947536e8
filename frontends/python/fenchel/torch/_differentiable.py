"""How an operation gets its derivatives, of first and second order, in reverse and in forward mode.

torch has two ways, and each serves what the other cannot: an autograd.Function with a `jvp` is right under every
transform of torch.func but cannot be compiled, and an autograd rule on the operation can be compiled but makes forward
mode silently wrong. `differentiable` attaches both, and the call chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._functorch.utils import unwrap_dead_wrappers
from torch.autograd import Function, forward_ad

from ._library import ops

Tensors = tuple[Any, ...]
"""Tensors, or None for what is not there."""
Places = frozenset[int]
"""Which of the x. Not a tuple, which torch.func would take apart."""


class Rule:
    """The operation y = f(x, static), of several tensors x, some of which may be None, and of numbers. Its results are
    `outputs`: y, and whatever else its derivatives use. phi = <grad, y>, for a grad of y's shape.
    """

    name: str
    """Of the operation, which takes x and then static."""
    count: int
    """How many x there are."""
    results: int = 1
    """How many outputs there are."""

    @staticmethod
    def unread(static: tuple[Any, ...]) -> tuple[int, ...]:
        """The x whose values no derivative reads: they are not kept."""
        return ()

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        """The gradient of phi: something for each x that is wanted."""
        raise NotImplementedError

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        """How y moves along dx. An x stands still where that is None."""
        raise NotImplementedError

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        """The Hessian of phi, times dx: something for each x that is wanted."""
        raise NotImplementedError


class _Function(Function):
    """Without torch's look at the signature of `forward`, half of the time of a small call: there are no defaults."""

    generate_vmap_rule = True

    @classmethod
    def apply(cls, *args: Any) -> Any:
        if torch._C._are_functorch_transforms_active():
            return super().apply(*args)
        return super(Function, cls).apply(*unwrap_dead_wrappers(args))  # type: ignore[misc]


def differentiable(rule: type[Rule]) -> Callable[..., torch.Tensor]:
    """y as a function of (*x, *static) that autograd, torch.func and torch.compile know the derivatives of."""
    count, results = rule.count, rule.results
    operation = getattr(ops, rule.name)

    def outputs_of(*args: Any) -> Tensors:
        return operation(*args) if results > 1 else (operation(*args),)

    def eager_outputs_of(*args: Any) -> Tensors:
        """Past the rule for compiled code: it is in Python, and all that it would find is that it has nothing to do."""
        if torch._C._are_functorch_transforms_active():
            return outputs_of(*args)
        with torch._C._AutoDispatchBelowAutograd():
            return outputs_of(*args)

    class Value(_Function):
        """Beside the outputs it has a place holder for each x that is not read: it stands for x where a gradient is
        differentiated again, and takes no memory."""

        @staticmethod
        def forward(*args: Any) -> Any:
            return (*eager_outputs_of(*args), *(_place_holder(args[i]) for i in rule.unread(args[count:])))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
            x = list(inputs[:count])
            for i, place_holder in zip(rule.unread(inputs[count:]), output[results:]):
                x[i] = place_holder
            _keep(ctx, (*x, *output[:results]), inputs[count:])
            ctx.mark_non_differentiable(*output[1:results])

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor | None, *others: torch.Tensor | None) -> Any:
            x, outputs = _split(ctx.saved_tensors, count)
            gradient: list[torch.Tensor | None] = [None] * count
            if grad is not None:
                gradient = list(vjp(x, outputs, grad, wanted_of(ctx), ctx.static))
            for i, through in zip(rule.unread(ctx.static), others[results - 1 :]):
                gradient[i] = _sum(gradient[i], through)
            return (*gradient, *(None for _ in ctx.static))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            x, outputs = _split(ctx.saved_tensors, count)
            dx = tangents[:count]
            dy = Jvp.apply(*x, *outputs, *dx, *ctx.static)
            place_holders = (or_zeros(dx[i], x[i]) for i in rule.unread(ctx.static))
            return (dy, *(None for _ in outputs[1:]), *place_holders)

    def wanted_of(ctx: Any, begin: int = 0) -> Places:
        """Which of the `count` inputs from `begin` on a backward has to give something for."""
        return frozenset(i for i in range(count) if ctx.needs_input_grad[begin + i])

    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        if not wanted:
            return (None,) * count
        gradient = Vjp.apply if is_differentiated((*x, grad)) else Vjp.forward
        return _spread(gradient(*x, *outputs, grad, wanted, *static), wanted, count)

    class Vjp(_Function):
        """The gradient of phi in the wanted x, as a function of x and grad: the outputs are there to be reused, and
        what they contribute is counted at x."""

        @staticmethod
        def forward(*args: Any) -> Any:
            x, outputs, (grad, wanted, *static) = _split(args, count, results)
            return _gather(rule.vjp(x, outputs, grad, wanted, tuple(static)), wanted)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            tensors, (ctx.wanted, *static) = _split(inputs, count + results + 1)
            _keep(ctx, tensors, tuple(static))

        @staticmethod
        def backward(ctx: Any, *weights: torch.Tensor | None) -> Any:
            x, outputs, (grad,) = _split(ctx.saved_tensors, count, results)
            dx = _spread(weights, ctx.wanted, count)
            if all(w is None for w in dx):
                return (None,) * (count + results + 2 + len(ctx.static))
            through_x = hessian(x, outputs, grad, dx, wanted_of(ctx), ctx.static)
            along = Jvp.apply(*x, *outputs, *dx, *ctx.static)
            return (*through_x, *(None for _ in outputs), along, None, *(None for _ in ctx.static))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            x, outputs, (grad,) = _split(ctx.saved_tensors, count, results)
            moved = hessian(x, outputs, grad, tangents[:count], ctx.wanted, ctx.static)
            d_grad = tangents[count + results]
            if d_grad is not None:
                linear = rule.vjp(x, outputs, d_grad, ctx.wanted, ctx.static)
                moved = tuple(_sum(m, g) for m, g in zip(moved, linear))
            return _gather(moved, ctx.wanted)

    class Jvp(_Function):
        """How y moves along dx, as a function of x and dx."""

        @staticmethod
        def forward(*args: Any) -> Any:
            x, outputs, dx, static = _split(args, count, results, count)
            return rule.jvp(x, outputs, dx, static)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            _keep(ctx, *_split(inputs, 2 * count + results))

        @staticmethod
        def backward(ctx: Any, cotangent: torch.Tensor | None) -> Any:
            x, outputs, dx, _ = _split(ctx.saved_tensors, count, results, count)
            if cotangent is None:
                return (None,) * (2 * count + results + len(ctx.static))
            through_x = hessian(x, outputs, cotangent, dx, wanted_of(ctx), ctx.static)
            through_dx = vjp(x, outputs, cotangent, wanted_of(ctx, count + results), ctx.static)
            return (*through_x, *(None for _ in outputs), *through_dx, *(None for _ in ctx.static))

    class Hessian(_Function):
        """The Hessian of phi, times dx, in the wanted x. Nobody differentiates it again: an error is better than a
        silent zero."""

        @staticmethod
        def forward(*args: Any) -> Any:
            x, outputs, (grad,), dx, (wanted, *static) = _split(args, count, results, 1, count)
            if all(d is None for d in dx):
                return tuple(map(torch.zeros_like, _gather(x, wanted)))
            return _gather(rule.hessian(x, outputs, grad, dx, wanted, tuple(static)), wanted)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            raise NotImplementedError(f"fenchel.torch.{rule.name} has first and second derivatives, and no higher ones")

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            return Hessian.backward(ctx)

    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        if not wanted:
            return (None,) * count
        return _spread(Hessian.apply(*x, *outputs, grad, *dx, wanted, *static), wanted, count)

    def save_for_rule(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        outputs = output if results > 1 else (output,)
        ctx.static = inputs[count:]
        unread = rule.unread(ctx.static)
        kept = tuple(None if i in unread else x for i, x in enumerate(inputs[:count]))
        ctx.save_for_backward(*kept, *outputs)

    def backward_of_rule(ctx: Any, grad: torch.Tensor, *others: Any) -> Any:
        x, outputs = _split(ctx.saved_tensors, count)
        wanted = wanted_of(ctx)
        gradient = Vjp.forward(*x, *outputs, grad, wanted, *ctx.static)
        return (*_spread(gradient, wanted, count), *(None for _ in ctx.static))

    torch.library.register_autograd(f"fenchel::{rule.name}", backward_of_rule, setup_context=save_for_rule)

    def call(*args: Any) -> torch.Tensor:
        if torch.compiler.is_compiling():
            if forward_ad._current_level >= 0 or torch._C._are_functorch_transforms_active():
                torch._dynamo.graph_break(f"fenchel.torch.{rule.name} knows torch.func in eager code alone")
            return outputs_of(*args)[0]
        return (Value.apply if is_differentiated(args[:count]) else eager_outputs_of)(*args)[0]

    return call


def or_zeros(x: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor:
    """For a direction: what has none stands still."""
    return torch.zeros_like(like) if x is None else x


def is_differentiated(x: tuple[Any, ...]) -> bool:
    """Whether derivatives of a function of x may be asked for."""
    # Under a transform of torch.func a tensor does not say whether an outer one differentiates it: vmap inside of grad.
    if forward_ad._current_level >= 0 or torch._C._are_functorch_transforms_active():
        return True
    return torch.is_grad_enabled() and any(isinstance(t, torch.Tensor) and t.requires_grad for t in x)


def _place_holder(x: torch.Tensor) -> torch.Tensor:
    """Of x's shape and type, and of no memory: but a tangent in forward mode needs room."""
    if forward_ad._current_level >= 0:
        return x.new_empty(x.shape)
    return x.new_empty_strided(x.shape, (0,) * x.dim())


def _keep(ctx: Any, tensors: tuple[Any, ...], static: tuple[Any, ...]) -> None:
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)
    ctx.static = static
    ctx.set_materialize_grads(False)


def _split(items: Any, *lengths: int) -> tuple[tuple[Any, ...], ...]:
    """The first so many, the next so many, and so on; then what is left."""
    parts, begin = [], 0
    for length in lengths:
        parts.append(tuple(items[begin : begin + length]))
        begin += length
    return (*parts, tuple(items[begin:]))


def _gather(items: Any, places: Places) -> tuple[Any, ...]:
    """What is at the places."""
    return tuple(item for i, item in enumerate(items) if i in places)


def _spread(parts: Any, places: Places, count: int) -> Tensors:
    """The inverse: `parts` at their places among `count`, None elsewhere."""
    remaining = iter(parts)
    return tuple(next(remaining) if i in places else None for i in range(count))


def _sum(a: torch.Tensor | None, b: torch.Tensor | None) -> torch.Tensor | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b
