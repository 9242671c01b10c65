"""What XLA306 says of the Python numbers that a trace is passed."""

from __future__ import annotations

from typing import Final

from xlalint.analysis.interpreter.events import FeedCompiled
from xlalint.fixes.quoted import brief
from xlalint.syntax import nodes as cst

KINDS: Final = {
    "counter": "a Python number that changes from call to call",
    "drawn": "a Python number drawn at random for each call",
    "filled": "the length of a list that grows",
    "grown": "the length of a list that grows",
    "number": "a Python number read from data",
}


def said_of(event: FeedCompiled, node: cst.CSTNode, kind: str) -> tuple[str, str]:
    """What a message says of an argument, and what to write instead of it. What `*args` or `**kwargs` brings has no
    name of its own at the call."""
    call = event.location.node
    if event.context.eager:
        return f"`{brief(node)}` is {kind}", "pass a tensor: `tf.constant(..)`"
    for arg in call.args if isinstance(call, cst.Call) else ():
        if (arg.star and arg.value is node) or (arg.star == "**" and node is call):
            held = brief(arg.value)
            return f"`{held}` passes {kind}", f"tf.constant(..), where `{held}` is given the number"
    if node is call:
        return f"`{brief(node)}` passes {kind}", "pass tensors, such as the elements of `tf.range(..)`"
    return f"`{brief(node)}` is {kind}", f"tf.constant({brief(node)})"
