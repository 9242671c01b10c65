"""What the rules about recompilation share: what varies, where it reaches the compiler, and how grave that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from xlalint.analysis.domain.kinds import leaves
from xlalint.analysis.domain.values import Static, Variation
from xlalint.analysis.domain.varying_shapes import FILLED, variations_of
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import FeedCompiled
from xlalint.analysis.library import api, datasets
from xlalint.fixes.quoted import brief, one_line
from xlalint.fixes.rewrite import Rewrite, Rewriter, after, replace
from xlalint.linter.rule import Draft, DraftNote, Effect, OnJax, Safety, Severity
from xlalint.linter.ways import start_of
from xlalint.syntax import nodes as cst

MADE = (datasets.FOLDER, datasets.IMAGES, datasets.TABLE)  # the details of last batches that what reads data makes
FEW = 2  # values or shapes that a program may have on purpose
PER_SHAPE = "XLA recompiles for every new shape"
BY_KERAS = "Keras compiles the step again for every new shape"
BY_JAX = "`jax.jit` recompiles for every new shape"


def varying(event: FeedCompiled, *kinds: str) -> Iterator[Variation]:
    """The variations of these kinds in what is handed over, each once."""
    seen = set()
    for value in event.values:
        for variation in variations_of(value):
            if variation.kind in kinds and variation not in seen:
                seen.add(variation)
                yield variation


def batch_sizes(event: FeedCompiled) -> tuple[Variation, ...]:
    """The sizes of one part of what is handed over: datasets that are zipped have a size each, and one shape
    together."""
    for part in chain.from_iterable(map(leaves, event.values)):
        if found := tuple(variation for variation in variations_of(part) if variation.kind == "batch"):
            return found
    return ()


def batched_otherwise(event: FeedCompiled, sizes: dict[object, dict[str, Variation]]) -> Iterator[Draft]:
    """A finding for each size of batches but the first. `sizes`: those that each step has got so far in each program,
    to which these are added: what two programs or tests do with one step, they do in a process each."""
    known = sizes.setdefault((event.target, start_of(event)), {})
    for variation in batch_sizes(event):
        if variation.axis != 0:
            continue  # batches of what was batched before
        first = known.setdefault(variation.detail, variation)
        before = next(iter(known.values()))
        if first is variation and before is not variation and not is_of_others(event, before, variation):
            message = (
                f"batches of {variation.detail} for a step that gets batches of {before.detail} elsewhere: XLA "
                f"compiles it for each size"
            )
            draft = fed(event, variation, message, f"use batches of {before.detail} here, too")
            yield Draft(
                draft.message,
                draft.effect,
                draft.help,
                draft.location,
                (*draft.notes, DraftNote(before.location, f"batches of {before.detail}")),
                draft.at_most,
            )


def is_of_others(event: FeedCompiled, one: Variation, other: Variation) -> bool:
    """Whether two sizes are of several programs: one function makes the batches of both, and what feeds the step is
    compiled as well, so that nobody is seen to run it."""
    trail = event.trail
    while trail is not None and trail.parent is not None:
        trail = trail.parent
    return one.location == other.location and trail is not None and trail.converted


def fed(
    event: FeedCompiled,
    variation: Variation,
    message: str,
    help: str | None = None,
    likely: bool = False,
    rewrite: Rewriter | None = None,
) -> Draft:
    """A finding where the variation comes from, which names the place where it reaches the compiler. It is information
    only where that is not certain to happen, or to happen again."""
    # One compilation more is the price of having all results.
    likely = likely or (not event.trains and variation.kind == "last batch")
    certain = event.certain and event.often and not likely
    return Draft(
        message,
        Effect.RECOMPILES,
        help,
        location=variation.location,
        notes=(DraftNote(event.location, f"this reaches {event.context.reached}"),),
        at_most=Severity.WARNING if certain else Severity.INFO,
        rewrite=rewrite,
        jax=by_shape(event, message, event.often and not likely),
    )


def by_shape(event: FeedCompiled, message: str, certain: bool) -> OnJax:
    """What varies is fed to `jax.jit`, or to Keras on JAX, where it compiles its steps on every device. `certain`: that
    happens again."""
    at_most = Severity.WARNING if certain else Severity.INFO
    return OnJax(
        Effect.RECOMPILES,
        message.rpartition(": ")[0] or message,
        BY_JAX if event.context.is_for_jax else BY_KERAS,
        at_most,
    )


def passed(
    event: FeedCompiled, seen: set[tuple[Location, Severity]], kinds: Mapping[str, str], help: str
) -> Iterator[Draft]:
    """A finding for each argument whose size varies, at the argument, which names the place that makes it so; one for
    each such place, and another where it matters more, and of slices of several arrays alike, as of arrays that are
    made alike. `kinds`: what the place does, in words that follow its code."""
    alike: set[str] = set()
    for value, node in zip(event.values, event.nodes, strict=True):
        for variation in variations_of(value):
            if variation.kind not in kinds or isinstance(value, Static):
                continue
            few = event.single or (variation.shapes is not None and variation.shapes <= FEW)
            at_most = Severity.WARNING if event.certain and event.often and not few else Severity.INFO
            cause = _cause(variation)
            if {(cause, Severity.WARNING), (cause, at_most)} & seen:
                continue
            seen.add((cause, at_most))
            if (text := _text_of_size(variation.location)) is not None:
                if text in alike:
                    continue
                alike.add(text)
            location = event.location.at(node)
            what = f"`{brief(variation.location.node)}` {kinds[variation.kind]}"
            notes = (DraftNote(variation.location, "this decides the size"),)
            yield Draft(
                f"{what}: {PER_SHAPE}",
                Effect.RECOMPILES,
                help,
                location=location,
                notes=notes if variation.location.node not in (node, *location.unit.around(node)) else (),
                at_most=at_most,
                jax=by_shape(event, f"{what}: {PER_SHAPE}", event.often and not few),
            )


def _text_of_size(location: Location) -> str | None:
    """What says how large a piece of an array is, or a new one, as it is written."""
    match location.node:
        case cst.Subscript(slice=[*_, last]):
            return location.unit.code(last)
        case cst.Call():
            return location.code
        case _:
            return None


def _cause(variation: Variation) -> Location:
    """What makes a size vary: of lists that one loop fills the loop, or the method that puts something into each, which
    makes all of them as long."""
    location = variation.location
    fillers = cst.For | cst.While | cst.FunctionDef
    around = (node for node in location.unit.around(location.node) if isinstance(node, fillers))
    filler = next(around, None) if variation.kind == FILLED else None
    return location if filler is None else location.at(filler)


def argument_set(
    location: Location, name: str, text: str, title: str, differs: str, safety: Safety = Safety.UNSAFE
) -> Rewriter | None:
    """The rewrite that gives a call the keyword argument `name`; None where it may be among the positional ones."""
    call = location.node
    if not isinstance(call, cst.Call) or not call.args:
        return None
    method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    order = api.parameters(f"tf.data.Dataset.{method}") or ()
    positional = sum(arg.keyword is None for arg in call.args)
    if any(arg.star for arg in call.args) or (name in order and positional > order.index(name)):
        return None
    given = next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)
    if given is not None:
        edit = replace(location.at(given.value), text)
    else:
        edit = after(location.at(call.args[-1].value), f", {name}={text}")
    return lambda names: Rewrite(title, (edit,), safety, differs if safety is Safety.UNSAFE else "")


def shown_with(location: Location, title: str, **settings: str) -> Rewriter | None:
    """The rewrite that shows a call with these keyword arguments, whose capital words the author has to fill in."""
    text = with_arguments(location.node, **settings)
    return None if text is None else lambda names: Rewrite(title, (replace(location, text),), Safety.DISPLAY)


def with_arguments(node: cst.CSTNode, **settings: str) -> str | None:
    """A call with these keyword arguments, in place of those that it has; None for what is no call."""
    if not isinstance(node, cst.Call):
        return None
    kept = [arg for arg in node.args if arg.keyword is None or arg.keyword.value not in settings]
    given = [f"{name}={text}" for name, text in settings.items()]
    return f"{one_line(node.func)}({', '.join((*map(one_line, kept), *given))})"


def dropping(detail: str) -> str:
    """The argument by which what makes batches leaves out a smaller last one."""
    return "drop_last" if detail == datasets.LOADED else "drop_remainder"


def batched_again(node: cst.CSTNode, detail: str) -> str | None:
    """What makes such batches, as what makes whole ones; None for what is no call. `detail`: one of `MADE`."""
    match detail:
        case datasets.FOLDER:
            single = with_arguments(node, batch_size="None")
        case datasets.TABLE:
            single = with_arguments(node)
            single = single and f"{single}.unbatch()"
        case _:
            single = "keras.utils.image_dataset_from_directory(FOLDER, batch_size=None)"
    return single and f"{single}.batch(SIZE, drop_remainder=True)"
