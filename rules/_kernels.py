"""What the rules about missing kernels share: the names that they listen for, and the measured case that a call is."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from xlalint.analysis.domain.kinds import as_tensor, leaves, options
from xlalint.analysis.domain.values import UNSET, Api, ApiObject, Array, Dependence, Static, Tensor, Value
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall
from xlalint.analysis.library.api import kind_of
from xlalint.analysis.library.raw_ops import PREFIX
from xlalint.facts import tables
from xlalint.facts.families import NO_KERNEL
from xlalint.facts.kernels import about, lacking, listed, missing_of
from xlalint.facts.replacements import instead_of
from xlalint.facts.tables import ApiFact, Case
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import RAW_OPS, Draft, Effect, Severity, Told

NOT_READY = frozenset(tables.refused_names())  # XLA408 is about them
TENSOR = re.compile(r"\w+\[")  # how a tensor is written among measured arguments
VALUES = re.compile(r"(?:nan|outside)\[")  # one of unusual values, which nothing but running the code tells
METHOD = re.compile(r"\)\.(\w+)\([^()]*\)$")  # the method that a measured call ends with
CALLED = ".__call__"


def names_lacking(code: str) -> frozenset[str]:
    """The calls for which some measured version lacks a kernel of the operations that the rule is about."""
    return names_where(lambda fact: fact.plain is not None and about(missing_of(fact.plain), code)) | {RAW_OPS}


def names_with_options() -> frozenset[str]:
    """The calls that have a kernel, and none with some value of an argument."""
    return names_where(lambda fact: any(about(missing_of(case), NO_KERNEL) for case in fact.cases[1:]))


def names_without_gradient() -> frozenset[str]:
    """The calls that compile and whose gradient does not."""
    return names_where(lambda fact: any(case.gradient is tables.Gradient.FAILS for case in fact.cases))


def names_where(wanted: Callable[[ApiFact], bool]) -> frozenset[str]:
    """The failing calls for which that is so in some measured version."""
    facts = (fact for name in tables.failing_names() if name not in NOT_READY for fact in tables.variants(name))
    return frozenset(event_name(fact) for fact in facts if wanted(fact))


def event_name(fact: ApiFact) -> str:
    """How an event names the call that was measured: of a layer the call of the object, of others a method of it."""
    if kind_of(fact.name) in ("layer", "loss", "metric"):
        return f"{fact.name}{CALLED}"
    called = METHOD.search(fact.cases[0].call) if fact.cases else None
    if called is None or fact.name.endswith(f".{called[1]}"):
        return fact.name
    return f"{fact.name}.{called[1]}"


def fact_of(event: ApiCall, version: str | None) -> ApiFact | None:
    """What is known of the call, or of the class whose method it is."""
    fact = tables.api(event.api, version) or tables.api(event.api.rpartition(".")[0], version)
    return fact if fact is not None and event_name(fact) == event.api else None


def missing_in(event: ApiCall, code: str, version: str | None) -> tuple[str, ...]:
    """The operations without a kernel that the call makes, where they are the rule's business."""
    if event.api.startswith(PREFIX):
        return raw_missing(event, code, version)
    fact = fact_of(event, version)
    case = case_of(fact, event.arguments) if fact is not None else None
    missing = missing_of(case) if case is not None else ()
    return missing if about(missing, code) else ()


def raw_missing(event: ApiCall, code: str, version: str | None) -> tuple[str, ...]:
    """The operation of `tf.raw_ops` that is called, where it has no kernel and is the rule's business."""
    known = tables.op(event.api.removeprefix(PREFIX), version)
    return (known.name,) if known is not None and "cpu" in known.lacking() and about((known.name,), code) else ()


def only_on_the_host(
    event: ApiCall, ops: Mapping[str, str], code: str, version: str | None, help: str
) -> Iterator[Draft]:
    """What compiled code asks for that only the host can do: by the op that is known of the call, else by the table."""
    if event.context.kind is ContextKind.XLA:
        missing = (ops[event.api],) if event.api in ops else missing_in(event, code, version)
        if missing:
            yield Draft(f"`{brief(event.node)}`: {lacking(missing, version)}", Effect.FAILS, help)


def is_folded(value: Value) -> bool:
    """Whether TensorFlow knows a value before it compiles: it is made of constants and shapes."""
    return all(
        isinstance(leaf, Static | Array) or (isinstance(leaf, Tensor) and leaf.dependence < Dependence.VALUE)
        for leaf in leaves(value)
    )


def told_of(missing: Iterable[str], version: str | None) -> Told:
    """For what code a missing kernel is told: where a TPU has all of them, not where a TPU alone compiles it."""
    known = [tables.op(op, version) for op in missing]
    has = all(one is not None and (tpu := one.kernels.get("tpu")) is not None and tpu.supported for one in known)
    return Told.NOT_FOR_TPU_ALONE if has else Told.ALWAYS


def worst(event: ApiCall) -> Severity:
    """Other devices and eager code have the kernel: it lacks only where code is seen to be compiled."""
    return Severity.ERROR if event.context.kind is ContextKind.XLA else Severity.INFO


def case_of(fact: ApiFact, arguments: Mapping[str, Value]) -> Case | None:
    """The measured case that the arguments make of a call; None where what decides is not known."""
    found, undecided = fact.plain, False
    for case in fact.cases[1:]:
        match = _fits(case, arguments)
        if match and (found is None or len(case.varied) >= len(found.varied)):
            found = case
        undecided |= match is None
    return None if undecided and found is fact.plain else found


def _fits(case: Case, arguments: Mapping[str, Value]) -> bool | None:
    """Whether the arguments are those of a case; None where one may be."""
    fits = [_is_written(arguments.get(name), written) for name, written in case.varied.items()]
    return False if False in fits else None if None in fits else True


def _is_written(value: Value | None, written: str) -> bool | None:
    if value is None:
        return False  # left out: the default, which the plain call has
    constant = _literal(written)
    if constant is UNSET:
        if written.startswith(("tf.", "keras.")):
            return any(option == Api(written) for option in options(value))
        if VALUES.match(written):
            return False
        if TENSOR.match(written):
            return as_tensor(value) is not None  # a tensor in place of a Python value
        return any(option == ApiObject("tf.SparseTensor") for option in options(value)) and written == "sparse"
    match value:
        case Static() if value.known:
            return bool(value.constant == constant and type(value.constant) is type(constant))
        case Static():
            return None
        case _:
            return False


@cache
def _literal(written: str) -> object:
    """What a text is as a literal; UNSET where it is none."""
    try:
        return ast.literal_eval(written)
    except (SyntaxError, ValueError):
        return UNSET


def help_for(fact: ApiFact, case: Case) -> str | None:
    """What to write instead: a proven replacement, or the value of an argument with which the call compiles."""
    found = instead_of(fact.name)
    if found is not None:
        return found
    return next(_compiling(fact, case), None)


def _compiling(fact: ApiFact, case: Case) -> Iterator[str]:
    """Arguments with which the call was measured to compile."""
    for name in case.varied:
        others = [written for written in fact.same.get(name, ()) if fact.plain is not None and not fact.plain.missing]
        if others:
            yield f"{listed([f'{name}={written}' for written in others[:3]])} compiles"
    for other in fact.cases:
        if other.outcome is tables.Outcome.OK and other.varied and set(other.varied) != set(case.varied):
            yield ", ".join(f"{name}={written}" for name, written in other.varied.items()) + " compiles"
