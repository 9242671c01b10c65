"""What the rules about distribution strategies share: which strategy is meant, and how a message names it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from xlalint.analysis.domain.values import ApiObject, Creation, Scope, Sequence, Setting, Static, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.setup_events import Setup, SetupCall
from xlalint.analysis.library.local_paths import is_local as is_path_here
from xlalint.analysis.library.local_paths import setting_of
from xlalint.analysis.library.strategies import (
    FLOATX,
    POLICIES,
    RESOLVER,
    beginning,
    copies_variables,
    is_node,
    is_strategy,
    is_tpu,
    making_of,
    may_be_either,
    may_be_node,
)
from xlalint.linter.rule import DraftNote, Severity, Told
from xlalint.syntax import nodes as cst

UNNAMED = "the environment says which TPU this is: a TPU VM has these files, a TPU node does not"
OF_GPUS = frozenset(("tf.distribute.MirroredStrategy", "tf.distribute.experimental.MirroredStrategy"))
_GPU: Final = re.compile(r"(?:^|/)(?:device:)?gpu(?::(?:\d+|\*))?$", re.IGNORECASE)
_BEGINS_GPU: Final = re.compile(r"(?:^|/)(?:device:)?gpu:", re.IGNORECASE)
_ONE_DEVICE = frozenset(("tf.distribute.OneDeviceStrategy", "tf.distribute.experimental.OneDeviceStrategy"))
PASSED: Final = {"args": 1, "kwargs": 2}  # the parameters of a strategy's `run`, with their positions
RUNNING = frozenset(("evaluate", "fit", "fit_generator", "predict", "test_on_batch", "train_on_batch"))


def names_tpu(step: SetupCall) -> bool:
    """Whether a call shows that the program has its TPU already."""
    return is_tpu(step.result) or step.api.startswith(RESOLVER)


def shows_strategy(step: SetupCall) -> bool:
    """Whether a call makes a strategy, or is one's method."""
    return is_strategy(step.result) or (step.owner is not None and is_strategy(step.owner))


def is_of_gpus(strategy: Value | None) -> bool:
    """Whether it is a strategy that takes all GPUs of a machine, or else the processor: a TPU needs another one."""
    return isinstance(strategy, ApiObject) and strategy.api in OF_GPUS and devices_of(strategy) == 0


def names_gpu(device: Value | None) -> bool:
    """Whether the name of a device is that of a GPU, whichever it is, or is so by default."""
    match device:
        case Static(str() as name) | Static(setting=Setting(str() as name)):
            return _GPU.search(name) is not None
        case Static(begins=beginning):
            return _BEGINS_GPU.search(beginning) is not None
        case _:
            return False


def takes_no_tpu(strategy: Value | None) -> bool:
    """Whether it is a strategy of a machine's GPUs, or of one device that is named and is no TPU."""
    match strategy:
        case ApiObject(api=api, payload=Static(str() as device)) if api in _ONE_DEVICE:
            return "tpu" not in device.casefold()
        case ApiObject(api=api, payload=Sequence(items=tuple(devices))) if api in OF_GPUS and devices:
            return all(map(names_gpu, devices))
        case _:
            return is_of_gpus(strategy)


def method_of(step: SetupCall) -> str:
    """The last word of what is called: "fit", "TPUStrategy"."""
    return step.api.rpartition(".")[2]


def places_of(step: Setup) -> Iterator[Location]:
    """Where a call stands, and the calls that lead to it, innermost first."""
    yield step.location
    trail = step.trail
    while trail is not None:
        yield trail.location
        trail = trail.parent


def passed_by(run: cst.Call, name: str) -> cst.BaseExpression:
    """What a strategy's `run` passes to the step, as it is written; the call where that is unpacked."""
    for index, arg in enumerate(run.args):
        if arg.keyword.value == name if arg.keyword is not None else index == PASSED[name] and not arg.star:
            return arg.value
    return run


def in_block_of(step: SetupCall, openers: Iterable[SetupCall]) -> bool:
    """Whether a call is made in the block of a `with` that one of these opens, also by a function called there."""
    entered = {id(opener.node) for opener in openers}
    blocks = (node for place in places_of(step) for node in place.unit.around(place.node) if isinstance(node, cst.With))
    return any(id(item.item) in entered for block in blocks for item in block.items)


def strategy_in(scope: Scope | None) -> ApiObject | None:
    """The strategy of a scope, where it is known and has devices of its own."""
    if scope is None or not isinstance(scope.strategy, ApiObject) or not is_strategy(scope.strategy):
        return None
    return scope.strategy if distributes(scope.strategy) else None


def distributes(strategy: Value) -> bool:
    """Whether a strategy keeps its variables on devices of its own: a TPU, or several devices."""
    return is_tpu(strategy) or (copies_variables(strategy) and not _has_one_device(strategy))


def never_runs(strategy: Value) -> bool:
    """Whether what one device alone takes fails for certain: on a TPU, and on several devices that are told."""
    return is_tpu(strategy) or devices_of(strategy) > 1


def _has_one_device(strategy: Value) -> bool:
    """Whether a `MirroredStrategy` is told a single device."""
    return devices_of(strategy) == 1


def devices_of(strategy: Value) -> int:
    """How many devices a `MirroredStrategy` is told; 0 where that is not known."""
    match strategy:
        case ApiObject(payload=Sequence(items=tuple(devices))):
            return len(devices)
        case _:
            return 0


def name_of(strategy: Value) -> str:
    """How a message names it: "MirroredStrategy"."""
    return strategy.api.rpartition(".")[2] if isinstance(strategy, ApiObject) else "the strategy"


def model_strategy(step: SetupCall) -> ApiObject | None:
    """The strategy that the model of a call runs under."""
    return made_under(step.owner)


def made_under(model: Value | None) -> ApiObject | None:
    """The strategy that a model runs under: that of the scope in which it was made."""
    made = making_of(model) if model is not None else None
    return strategy_in(made.scope) if made is not None else None


def is_the_same(one: Value, other: Value) -> bool:
    """Whether both are the strategy that was made in one place, or may be, as nobody sees where one was made."""
    unseen = any(is_strategy(value) and making_of(value) is None for value in (one, other))
    return unseen or making_of(one) == making_of(other)


def made_note(value: Value | None, what: str) -> tuple[DraftNote, ...]:
    """The place where a value was made."""
    made = making_of(value) if value is not None else None
    return (DraftNote(made.location, what),) if made is not None else ()


def made_near(step: SetupCall) -> Creation | None:
    """Where the model of a call was created: of several places that in the same function, if it is one."""
    return None if step.owner is None else making_of(step.owner, step.location)


def node_strategy(steps: Iterable[SetupCall]) -> Value | None:
    """The strategy of a program that is for a TPU node, or may be, since its address is not known."""
    made = [step.result for step in steps if is_strategy(step.result) and may_be_node(step.result)]
    return next(filter(is_node, made), next(iter(made), None))


def unnamed_strategy(steps: Iterable[SetupCall]) -> Value | None:
    """The strategy of a program that takes the TPU which the environment names: a TPU VM's, or a TPU node."""
    return next((step.result for step in steps if is_strategy(step.result) and may_be_either(step.result)), None)


def told_node(strategy: Value) -> str:
    """How a message names the machine of a TPU node."""
    if is_node(strategy):
        return "a TPU node"
    return f"a TPU node (if this is {'one' if may_be_either(strategy) else 'the address of one'})"


def path_setting(value: Value | None) -> str | None:
    """The setting whose default alone says that a path, or one of a list, is one of this machine."""
    match value:
        case Sequence(items=tuple(items), element=element):
            found = [path_setting(part) for part in (*items, *([] if element is None else [element]))]
            return next(filter(None, found), None) if all(found) else None
        case _:
            return None if value is None else setting_of(value)


def by_default(setting: str | None, node: Value, at_most: Severity) -> tuple[str, Severity]:
    """What a message says of a path that is local by default, and how grave that can be: whoever runs the program may
    name a bucket, and where the TPU's address is not known, both have to be as they are not by default."""
    if setting is None:
        return "", at_most
    least = Severity.WARNING if is_node(node) and at_most is Severity.ERROR else Severity.INFO
    return f" by default, which {setting} decides", least


def is_local(value: Value, node: cst.BaseExpression) -> bool:
    """Whether a path, or one of a list, is written in the program and is one of this machine."""
    if isinstance(value, Sequence):
        parts = value.items or ()
        return any(is_local(part, node) for part in (parts if value.element is None else (*parts, value.element)))
    return is_path_here(beginning(value, node))


def told_on_tpu(steps: Iterable[SetupCall]) -> Told:
    """Of what only a TPU minds: always told where the program has a strategy for one, else for that target alone."""
    return Told.ALWAYS if any(is_tpu(step.result) for step in steps) else Told.FOR_TPU_ALONE


def dtype_for_all(step: SetupCall) -> Value | None:
    """The name of the dtype, or of the policy, that a call sets for all layers; None: it sets none."""
    if step.api == FLOATX:
        return step.arguments.get("value", step.arguments.get("*0"))
    if step.api not in POLICIES:
        return None
    match step.arguments.get("policy", step.arguments.get("*0")):
        case ApiObject(api="keras.DTypePolicy", payload=name):
            return name
        case name:
            return name
