"""What is known of a call or an operation, as a person reads it and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from ..findings.codes import rule_names, suggestion
from . import gpu, jax, tables, tpu
from .families import NO_KERNEL, family
from .gpu import OnGpu
from .kernels import lacking, missing_of
from .names import canonical
from .replacements import instead_of, instead_of_op
from .tables import WORDS, ApiFact, Case, Gradient, OpFact, Outcome
from .tpu import OnTpu, TpuOutcome

_GRADIENTS: Final = {
    Gradient.OK: "compiles",
    Gradient.FAILS: "does not compile",
    Gradient.DIVERGES: "compiles, but the result differs",
}
_DEVICES: Final = {"cpu": "CPU", "gpu": "GPU", "tpu": "TPU"}
# What of a TPU is not worth telling beside what becomes of a call on a CPU: much the same, or nothing.
_NOTHING: Final = (TpuOutcome.UNTRACED, TpuOutcome.UNTESTED, TpuOutcome.LOWERS)
_ALIKE: Final = {
    Outcome.OK: (TpuOutcome.OK, *_NOTHING),
    Outcome.FAILS: (TpuOutcome.FAILS, *_NOTHING),
    Outcome.DIVERGES: (TpuOutcome.OK, *_NOTHING),
    Outcome.RECOMPILES: _NOTHING,
    Outcome.BOUNDED: (TpuOutcome.BOUNDED, *_NOTHING),
    Outcome.UNTESTED: tuple(TpuOutcome),
}
_UNTOLD: Final = (TpuOutcome.UNTRACED, TpuOutcome.UNTESTED)  # which say nothing of a TPU
_SHOWN: Final = 12  # operations that a call makes
_IMPORTED: Final = re.compile(r"(?:import|from)\s+|\(.*", re.DOTALL)


def find(name: str, version: str | None) -> tuple[ApiFact | None, OpFact | None]:
    """The call and the operation that a name in any spelling stands for."""
    plain = _IMPORTED.sub("", name.strip())
    full = canonical(plain)
    fact = tables.api(full, version)
    if fact is None and not full.startswith(("tf.", "keras.", "tnp.")):
        candidates = (tables.api(canonical(f"{root}.{plain}"), version) for root in ("tf", "tf.math", "keras"))
        fact = next((found for found in candidates if found is not None), None)
    return fact, tables.op(plain.removeprefix("tf.raw_ops."), version)


def unknown(name: str) -> str:
    """That nothing is known of a name, and what may be meant."""
    return f"no call or operation is called {name!r}{suggestion(name, [*tables.api_names(), *tables.op_names()])}"


def unsupported(version: str | None) -> Iterator[ApiFact]:
    """The calls that make an operation without a kernel, by name."""
    found = (fact for fact in tables.apis(version) if fact.plain is not None and missing_of(fact.plain))
    yield from sorted(found, key=lambda fact: fact.name)


def otherwise_on_tpu() -> Iterator[tuple[ApiFact, Case, OnTpu]]:
    """The calls of which a TPU's compiler makes something else than a CPU's, by name."""
    for fact in sorted(tables.apis(), key=lambda fact: fact.name):
        for case in fact.cases:
            found = tpu.of_call(case.call)
            if found is not None and found.outcome not in _ALIKE[case.outcome]:
                yield fact, case, found


def otherwise_on_gpu() -> Iterator[tuple[ApiFact, Case, OnGpu]]:
    """The calls of which another thing becomes on a GPU than on a CPU, by name."""
    for fact in sorted(tables.apis(), key=lambda fact: fact.name):
        for case in fact.cases:
            if (found := gpu.otherwise(case)) is not None:
                yield fact, case, found


# -- text -------------------------------------------------------------------------------------------------------------


def api_text(fact: ApiFact, version: str | None) -> str:
    """All that is known of a call."""
    lines = [f"{fact.name} (TensorFlow {fact.version})"]
    if fact.untested:
        lines.append(f"  not measured: {fact.untested}")
    for case in fact.cases:
        lines += _case(fact.name, case, version)
    for call, found in jax.options(fact.name).items():
        lines += [
            f"  with JAX and {', '.join(f'{name}={text}' for name, text in found.varied.items())}: {found.said()}"
        ]
        lines += [f"    measured: {call}"]
    lines += [f"  no change with {name}={' or '.join(written)}" for name, written in fact.same.items()]
    if fact.refused:
        lines.append("  Keras does not compile a model with this layer: its `supports_jit` is False")
    lines += [f"  instead: {text}" for text in (instead_of(fact.name),) if text]
    lines += [f"  {text}" for text in _elsewhere(fact)]
    if fact.plain is not None and (missing := missing_of(fact.plain)):
        code = family(missing[0]).code or NO_KERNEL
        lines.append(f"  more: xlalint explain {code} ({rule_names()[code]})")
    return "".join(f"{line}\n" for line in lines)


def _case(name: str, case: Case, version: str | None) -> Iterator[str]:
    options = ", ".join(f"{parameter}={written}" for parameter, written in case.varied.items())
    missing = missing_of(case)
    what = lacking(missing, version) if missing else WORDS[case.outcome]
    why = f": {case.detail}" if case.detail and not missing else ""
    yield f"  {f'with {options}: ' if options else ''}{what}{why}"
    yield f"    measured: {case.call}"
    if case.gradient is not Gradient.NONE:
        lost = f": {lacking(case.gradient_missing, version)}" if case.gradient_missing else ""
        yield f"    gradient: {_GRADIENTS[case.gradient]}{lost}"
    yield from _on_gpu(case)
    yield from _on_tpu(case)
    yield from _on_jax(name, case)
    if case.ops and not options:
        more = f" and {len(case.ops) - _SHOWN} more" if len(case.ops) > _SHOWN else ""
        yield f"    operations: {', '.join(case.ops[:_SHOWN])}{more}"


def _on_gpu(case: Case) -> Iterator[str]:
    found = gpu.otherwise(case)
    if found is not None:
        yield f"    on a GPU ({gpu.stack()[1]}): {found.said()}"
        if found.gradient not in (case.gradient, Gradient.NONE):
            yield f"    on a GPU, the gradient: {_GRADIENTS[found.gradient]}"


def _on_tpu(case: Case) -> Iterator[str]:
    found = tpu.of_call(case.call)
    if found is None or found.outcome in _UNTOLD or (found.missing and set(found.missing) <= set(case.missing)):
        return
    yield f"    on a TPU, compiled by shapes alone: {found.said()}"
    gradient = found.gradient
    if gradient is not None and (gradient.outcome is TpuOutcome.FAILS) != (case.gradient is Gradient.FAILS):
        yield f"    on a TPU, the gradient: {gradient.said()}"


def _on_jax(name: str, case: Case) -> Iterator[str]:
    found = jax.of_call(name, case.call)
    if found is None:
        return
    yield f"    with {jax.versions()}: {found.said()}"
    if found.gradient not in (case.gradient, Gradient.NONE):
        why = f": {found.gradient_detail}" if found.gradient_detail else ""
        yield f"    with JAX, the gradient: {_GRADIENTS[found.gradient]}{why}"


def _elsewhere(fact: ApiFact) -> Iterator[str]:
    """The other versions, where the call ends otherwise."""
    for version in tables.versions():
        other = tables.api(fact.name, version)
        if version != fact.version and (other is None or other.outcome is not fact.outcome):
            yield f"TensorFlow {version}: {WORDS[other.outcome] if other is not None else 'has no such call'}"


def op_text(fact: OpFact) -> str:
    """All that is known of an operation."""
    lines = [f"{fact.name}, an operation"]
    for device, kernel in fact.kernels.items():
        where = f"{_DEVICES[device]}, TensorFlow {kernel.version}"
        dtypes = "; ".join(f"{attribute}: {' '.join(names)}" for attribute, names in kernel.dtypes.items())
        lines.append(f"  {where}: {f'a kernel ({dtypes})' if kernel.supported else 'no XLA kernel'}")
    if fact.constants:
        lines.append(f"  must be compile-time constants: {', '.join(fact.constants)}")
    if fact.lacking() and (why := family(fact.name).why):
        lines.append(f"  because {why}")
    made = sorted(_makers(fact.name), key=lambda name: (name.count("."), name))
    lines += [f"  made by {', '.join(made[:_SHOWN])}"] if made else []
    lines += [f"  instead: {text}" for text in (instead_of_op(fact.name),) if text and fact.lacking()]
    return "".join(f"{line}\n" for line in lines)


def _makers(op: str) -> Iterator[str]:
    """The calls that make the operation."""
    return (fact.name for fact in tables.apis() if fact.plain is not None and op in fact.plain.ops)


def unsupported_text(version: str | None) -> str:
    """The calls without a kernel, a line each."""
    found = list(unsupported(version))
    width = max((len(fact.name) for fact in found), default=0)
    rows = [f"{fact.name:<{width}}  {', '.join(missing_of(fact.cases[0]))}\n" for fact in found]
    return "".join(rows) + f"{len(found)} calls of TensorFlow {tables.nearest(version)} have no XLA kernel.\n"


def otherwise_on_tpu_text() -> str:
    """The same, a line each, and under it what a TPU's compiler says."""
    found = list(otherwise_on_tpu())
    width = max(len(case.outcome.value) for _, case, _ in found)
    rows = [f"{case.outcome.value:<{width}}  {case.call}\n  on a TPU: {there.said()}\n" for _, case, there in found]
    versions, topology = tpu.stack()
    asked = f"{versions}; {topology}"
    return "".join(rows) + f"{len(found)} calls compile differently for a TPU ({asked}) than for a CPU.\n"


def otherwise_on_gpu_text() -> str:
    """The calls of which another thing becomes on a GPU, a line each, and under it what."""
    found = list(otherwise_on_gpu())
    width = max(len(case.outcome.value) for _, case, _ in found)
    rows = [f"{case.outcome.value:<{width}}  {case.call}\n  on a GPU: {there.said()}\n" for _, case, there in found]
    versions, device = gpu.stack()
    return "".join(rows) + f"{len(found)} calls behave differently on a GPU ({versions}; {device}) than on a CPU.\n"


# -- JSON -------------------------------------------------------------------------------------------------------------


def record(api: ApiFact | None, op: OpFact | None) -> dict[str, Any]:
    """Both, for programs."""
    return {"api": None if api is None else _api_record(api), "op": None if op is None else _op_record(op)}


def _api_record(fact: ApiFact) -> dict[str, Any]:
    missing = missing_of(fact.plain) if fact.plain is not None else ()
    more = {"outcome": fact.outcome, "missing": missing, "instead": instead_of(fact.name)}
    found = msgspec.to_builtins(fact)
    for case in found["cases"]:
        if (on_tpu := tpu.of_call(case["call"])) is not None:
            case["tpu"] = on_tpu.record()
        if (on_gpu := gpu.of_call(case["call"])) is not None:
            case["gpu"] = on_gpu.record()
        if (on_jax := jax.of_call(fact.name, case["call"])) is not None:
            case["jax"] = on_jax.record()
    return {**found, **more}


def otherwise_record(device: Literal["gpu", "tpu"]) -> list[dict[str, Any]]:
    """The calls of which another thing becomes on a device than on a CPU."""
    return [
        {"name": fact.name, "call": case.call, "cpu": case.outcome, device: found.record()}
        for fact, case, found in (otherwise_on_tpu() if device == "tpu" else otherwise_on_gpu())
    ]


def _op_record(fact: OpFact) -> dict[str, Any]:
    return {**msgspec.to_builtins(fact), "lacking": fact.lacking(), "instead": instead_of_op(fact.name)}
