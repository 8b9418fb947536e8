"""How an operation gets its derivatives, of first and second order, in reverse and in forward mode.

torch has two ways, and each serves what the other cannot: an autograd.Function with a `jvp` is right under every
transform of torch.func but cannot be compiled, and an autograd rule on the operation can be compiled but makes forward
mode silently wrong. `differentiable` attaches both, and the call chooses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._C import _AutoDispatchBelowAutograd as below_autograd
from torch._C._functorch import unwrap_if_dead
from torch._functorch.utils import unwrap_dead_wrappers
from torch.autograd import Function, forward_ad
from torch.jit import is_tracing as is_jit_tracing  # type: ignore[attr-defined]
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

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
    is_compiled: bool = True
    """Whether compiled code calls the operation, which then has a rule."""

    @staticmethod
    def is_unread(static: tuple[Any, ...]) -> bool:
        """Whether no derivative reads the values of the first x, which then is not kept. If there are several outputs, the
        second has its shape."""
        return False

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
    unrecorded = _unrecorded(rule)

    def outputs_of(*args: Any) -> Tensors:
        return operation(*args) if results > 1 else (operation(*args),)

    def keep_value(ctx: Any, args: tuple[Any, ...], outputs: Tensors) -> Tensors:
        ctx.static = static = args[count:]
        ctx.set_materialize_grads(False)
        is_unread = rule.is_unread(static)
        if results > 1:
            ctx.mark_non_differentiable(*outputs[1 + is_unread :])
        kept = (*args[is_unread:count], *outputs[-results:])
        ctx.save_for_backward(*kept)
        return kept

    def kept_of_value(ctx: Any) -> tuple[Tensors, Tensors]:
        """x and the outputs. What stands for x has been kept once, as an output."""
        kept = ctx.saved_tensors
        x, outputs = kept[:-results], kept[-results:]
        return (x if len(x) == count else (outputs[1 if results > 1 else 0], *x)), outputs

    class Value(_Function):
        @staticmethod
        def forward(*args: Any) -> Any:
            """An unread x needs an output that stands for it, without memory of its own, where a gradient is differentiated
            again: the second, or the first once more."""
            outputs = outputs_of(*args)
            return (*outputs, outputs[0].detach()) if results == 1 and rule.is_unread(args[count:]) else outputs

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
            ctx.save_for_forward(*keep_value(ctx, inputs, output))

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor | None, through: torch.Tensor | None = None, *others: Any) -> Any:
            x, outputs = kept_of_value(ctx)
            gradient: Tensors = (None,) * count
            if grad is not None:
                gradient = vjp(x, outputs, grad, wanted_of(ctx), ctx.static)
            if through is not None:
                gradient = (_sum(gradient[0], through), *gradient[1:])
            return (*gradient, *[None] * len(ctx.static))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            x, outputs = kept_of_value(ctx)
            dx = tangents[:count]
            dy = Jvp.apply(*x, *outputs, *dx, *ctx.static)
            if not rule.is_unread(ctx.static):
                return (dy, *(None for _ in outputs[1:]))
            return (dy, or_zeros(dx[0], x[0]).to(x[0].dtype), *(None for _ in outputs[2:]))

    class EagerValue(Value):
        """The same without transforms and forward mode, in one step: what most calls need. Outputs that have no gradient are
        kept, and need not be autograd's."""

        setup_context = Function.setup_context

        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            outputs = unrecorded(*args)
            ctx.static = static = args[count:]
            ctx.set_materialize_grads(False)
            if not rule.is_unread(static):
                outputs = outputs if results > 1 else (outputs,)
                ctx.save_for_backward(*args[:count], *outputs)
                return outputs[:1]
            if results > 1:
                ctx.save_for_backward(*args[1:count], *outputs)
                return outputs[:2]
            stand_in = outputs.detach()
            ctx.save_for_backward(*args[1:count], stand_in)
            return outputs, stand_in

    apply_eagerly = super(Function, EagerValue).apply

    def wanted_of(ctx: Any, begin: int = 0) -> Places:
        """Which of the `count` inputs from `begin` on a backward has to give something for."""
        return _places(ctx.needs_input_grad[begin : begin + count])

    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        if not wanted:
            return (None,) * count
        if is_differentiated((*x, grad)):
            return _spread(Vjp.apply(*x, *outputs, grad, wanted, *static), wanted, count)
        return _only(rule.vjp(x, outputs, grad, wanted, static), wanted, count)

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
        ctx.save_for_backward(None if rule.is_unread(ctx.static) else inputs[0], *inputs[1:count], *outputs)

    def backward_of_rule(ctx: Any, grad: torch.Tensor, *others: Any) -> Any:
        x, outputs = _split(ctx.saved_tensors, count)
        wanted = wanted_of(ctx)
        return (*_only(rule.vjp(x, outputs, grad, wanted, ctx.static), wanted, count), *(None for _ in ctx.static))

    if rule.is_compiled:
        torch.library.register_autograd(f"fenchel::{rule.name}", backward_of_rule, setup_context=save_for_rule)

    def call(*args: Any) -> torch.Tensor:
        if torch.compiler.is_compiling():
            if is_transformed():
                torch._dynamo.graph_break(f"fenchel.torch.{rule.name} knows torch.func in eager code alone")
            return outputs_of(*args)[0]
        if is_transformed():
            return Value.apply(*args)[0]
        x = args[:count]
        if requires_gradient(x):
            return apply_eagerly(*[t if t is None else unwrap_if_dead(t) for t in x], *args[count:])[0]
        return unrecorded(*args)[0] if results > 1 else unrecorded(*args)

    return call


def _unrecorded(rule: type[Rule]) -> Callable[..., Any]:
    """The operation past the rule for compiled code, which is in Python, and which would find that it has nothing to do."""
    operation = getattr(ops, rule.name).default._op
    if not rule.is_compiled:
        return operation

    def below(*args: Any) -> Any:
        with below_autograd():
            return operation(*args)

    twin = getattr(ops, f"{rule.name}_value", None)
    if twin is None:
        return below
    value = twin.default._op
    # What a mode or torch.jit writes down may be differentiated later.
    return lambda *args: below(*args) if is_in_torch_dispatch_mode() or is_jit_tracing() else value(*args)


def or_zeros(x: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor:
    """For a direction: what has none stands still."""
    return torch.zeros_like(like) if x is None else x


def is_traced() -> bool:
    """Whether more than autograd looks at the call: a compiler, torch.jit, a transform, forward mode, or a mode of the
    dispatcher."""
    return torch.compiler.is_compiling() or is_transformed() or is_in_torch_dispatch_mode() or is_jit_tracing()


def is_transformed() -> bool:
    """Whether there is forward mode or a transform of torch.func: then a tensor does not say whether it is differentiated,
    as in a vmap inside of a grad."""
    return forward_ad._current_level >= 0 or torch._C._are_functorch_transforms_active()


def requires_gradient(x: tuple[Any, ...]) -> bool:
    """Whether a gradient in one of them will be asked for, as far as they know."""
    for t in x:
        if t is not None and t.requires_grad:
            return torch.is_grad_enabled()
    return False


def is_differentiated(x: tuple[Any, ...]) -> bool:
    """Whether derivatives of a function of x may be asked for."""
    return is_transformed() or requires_gradient(x)


def _keep(ctx: Any, tensors: tuple[Any, ...], static: tuple[Any, ...]) -> None:
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)
    ctx.static = static
    ctx.set_materialize_grads(False)


def _split(items: Any, *lengths: int) -> tuple[tuple[Any, ...], ...]:
    """The first so many, the next so many, and so on; then what is left."""
    parts, begin = [], 0
    for length in lengths:
        parts.append(items[begin : begin + length])
        begin += length
    return (*parts, items[begin:])


@functools.cache
def _places(flags: tuple[bool, ...]) -> Places:
    return frozenset(i for i, flag in enumerate(flags) if flag)


def _only(items: Any, places: Places, count: int) -> Tensors:
    """Those at the places among `count`, None elsewhere."""
    return tuple([items[i] if i in places else None for i in range(count)])


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
