"""Python numbers that a compiled step is passed: in which forms they are other ones each time, and in which not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD: Final = """\
import collections, dataclasses, functools, itertools, math
import numpy as np
import tensorflow as tf

x = tf.ones([4])

@tf.function(jit_compile=True)
def step(x, n):
    return x * tf.cast(n, tf.float32)

"""
# Each call has a number of its own, and so a trace.
VARYING: Final = {
    "attr": """
class T:
    def __init__(self):
        self.n = 0
    def go(self):
        for i in range(5):
            step(x, self.n)
            self.n += 1
T().go()
""",
    "comp": """
vals = [0.1 * i for i in range(5)]
for v in vals:
    step(x, v)
""",
    "count": """
for v, b in zip(itertools.count(), [x] * 5):
    step(b, v)
""",
    "dataclass": """
@dataclasses.dataclass
class St:
    n: int = 0
s = St()
for i in range(5):
    s.n += 1
    step(x, s.n)
""",
    "deque": """
q = collections.deque([1, 2, 3, 4, 5])
while q:
    step(x, q.popleft())
""",
    "dictitems": """
for k, v in {'a': 1, 'b': 2, 'c': 3, 'd': 4, 'e': 5}.items():
    step(x, v)
""",
    "dictstate": """
s = {'n': 0}
for i in range(5):
    s['n'] += 1
    step(x, s['n'])
""",
    "dictval": """
for v in {'a': 1, 'b': 2, 'c': 3, 'd': 4, 'e': 5}.values():
    step(x, v)
""",
    "enumds": """
for i, b in enumerate(tf.data.Dataset.from_tensors(x).repeat(5)):
    step(b, i)
""",
    "enumerate": """
for i, b in enumerate([x] * 5):
    step(b, i)
""",
    "epochmul": """
for e in range(2):
    for i in range(3):
        step(x, e * 3 + i)
""",
    "floatloss": """
v = 1.0
for i in range(5):
    v = float(step(x, v)[0]) + 1.0
""",
    "gen": """
def g():
    for i in range(5):
        yield i
for v in g():
    step(x, v)
""",
    "genyieldpair": """
def g():
    for i in range(5):
        yield x, i
for b, v in g():
    step(b, v)
""",
    "global": """
N = 0
def go():
    global N
    for i in range(5):
        N += 1
        step(x, N)
go()
""",
    "helper": """
def helper(b, v):
    return step(b, v)
for i in range(5):
    helper(x, i)
""",
    "helper2": """
def helper2(b, **kw):
    return step(b, kw['n'])
for i in range(5):
    helper2(x, n=i)
""",
    "ifdecay": """
lr = 0.1
for i in range(5):
    if i % 1 == 0:
        lr = lr / 2
    step(x, lr)
""",
    "kw": """
for i in range(5):
    step(x, n=i)
""",
    "kwstar": """
for i in range(5):
    step(x, **{'n': i})
""",
    "lambda": """
run = lambda v: step(x, v)
for i in range(5):
    run(i)
""",
    "lenlist": """
mem = []
for i in range(5):
    mem.append(i)
    step(x, len(mem))
""",
    "listcompcall": """
out = [step(x, i) for i in range(5)]
""",
    "listidx": """
vals = [0.1, 0.2, 0.3, 0.4, 0.5]
for i in range(5):
    step(x, vals[i])
""",
    "liststate": """
s = [0]
for i in range(5):
    s[0] += 1
    step(x, s[0])
""",
    "listval": """
for v in [0.1, 0.2, 0.3, 0.4, 0.5]:
    step(x, v)
""",
    "lrdecay": """
lr = 0.1
for i in range(5):
    step(x, lr)
    lr *= 0.9
""",
    "lrpow": """
for i in range(5):
    step(x, 0.1 * 0.9 ** i)
""",
    "mapcall": """
out = list(map(lambda i: step(x, i), range(5)))
""",
    "mathcos": """
for i in range(5):
    step(x, math.cos(i))
""",
    "max": """
for i in range(5):
    step(x, max(0.1, 1.0 - 0.1 * i))
""",
    "min": """
for i in range(5):
    step(x, min(1.0, i / 10))
""",
    "nested": """
for i in range(5):
    step(x, [i, i + 1][1])
""",
    "nextit": """
it = iter(range(5))
for _ in range(5):
    step(x, next(it))
""",
    "nonlocal": """
def go():
    n = 0
    def one():
        nonlocal n
        n += 1
        step(x, n)
    for i in range(5):
        one()
go()
""",
    "nparange": """
for v in np.arange(5):
    step(x, int(v))
""",
    "npcos": """
for i in range(5):
    step(x, float(np.cos(i)))
""",
    "nplin": """
for v in np.linspace(0.0, 1.0, 5):
    step(x, float(v))
""",
    "numpyloss": """
v = 1.0
for i in range(5):
    v = step(x, v)[0].numpy().item() + 1.0
""",
    "partial": """
for i in range(5):
    functools.partial(step, n=i)(x)
""",
    "pop": """
q = [1, 2, 3, 4, 5]
while q:
    step(x, q.pop())
""",
    "product": """
for v, w in itertools.product(range(3), range(2)):
    step(x, v * 2 + w)
""",
    "prop": """
class T:
    def __init__(self):
        self.k = 0
    @property
    def eps(self):
        return 1.0 / (1 + self.k)
    def go(self):
        for i in range(5):
            self.k += 1
            step(x, self.eps)
T().go()
""",
    "range": """
for i in range(5):
    step(x, i)
""",
    "reversed": """
for i in reversed(range(5)):
    step(x, i)
""",
    "rounddiv": """
for i in range(5):
    step(x, round(i / 7, 3))
""",
    "sched": """
def schedule(i):
    return 0.1 * 0.5 ** i
for i in range(5):
    step(x, schedule(i))
""",
    "schedcls": """
class S:
    def __init__(self):
        self.lr = 0.1
    def next(self):
        self.lr *= 0.9
        return self.lr
s = S()
for i in range(5):
    step(x, s.next())
""",
    "shape": """
for i in range(1, 6):
    b = np.ones((i, 2), 'float32')
    step(x, b.shape[0])
""",
    "sorted": """
for i in sorted([3, 1, 2, 5, 4]):
    step(x, i)
""",
    "star": """
for i in range(5):
    step(*(x, i))
""",
    "ternary": """
for i in range(5):
    step(x, 0.1 if i < 0 else 0.1 / (i + 1))
""",
    "tuplearg": """
for i in range(5):
    step(x, (i, 1)[0])
""",
    "while": """
i = 0
while i < 5:
    step(x, i)
    i += 1
""",
    "zip": """
for v, b in zip(range(5), [x] * 5):
    step(b, v)
""",
    "clip": """
for i in range(5):
    step(x, float(np.clip(i / 10, 0.0, 1.0)))
""",
    "clsidx": """
class S:
    rates = [0.1, 0.2, 0.3, 0.4]
    def at(self, i):
        return self.rates[i]
s = S()
for i in range(4):
    step(x, s.at(i))
""",
    "dataidx": """
data = np.random.rand(5)
for i in range(5):
    step(x, float(data[i]))
""",
    "dictidx": """
rates = {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4}
for i in range(4):
    step(x, rates[i])
""",
    "interp": """
for i in range(5):
    step(x, float(np.interp(i, [0, 10], [0.0, 1.0])))
""",
    "intfloor": """
for i in range(5):
    step(x, int(np.floor(i * 3)))
""",
    "min1": """
rates = [0.1, 0.2, 0.3, 0.4]
for i in range(8):
    step(x, rates[min(i, 3)])
""",
    "round": """
for v in np.linspace(0.0, 1.0, 5):
    step(x, round(float(v), 3))
""",
    "selflist": """
class C:
    def __init__(self):
        self.s = [0]
    def go(self):
        for i in range(5):
            self.s[0] += 1
            step(x, self.s[0])
C().go()
""",
    "tupidx": """
rates = (0.1, 0.2, 0.3, 0.4)
for i in range(4):
    step(x, rates[i])
""",
    "whileattr": """
class C:
    def __init__(self):
        self.s = {'n': 0}
    def go(self):
        while self.s['n'] < 5:
            self.s['n'] += 1
            step(x, self.s['n'])
C().go()
""",
}
# One trace or two.
SAME: Final = {
    "after": """
lr = 0.1
for i in range(5):
    step(x, 0.1)
    lr *= 0.9
print(lr)
""",
    "cast": """
for i in range(5):
    step(x, tf.cast(i, tf.float32))
""",
    "const": """
for i in range(5):
    step(x, 3)
""",
    "convert": """
for i in range(5):
    step(x, tf.convert_to_tensor(0.1 * i))
""",
    "flag": """
for i in range(5):
    step(x, i > 2)
""",
    "floor": """
for i in range(5):
    step(x, i // 100)
""",
    "loss": """
v = tf.constant(1.0)
for i in range(5):
    v = step(x, v)[0]
""",
    "mod": """
for i in range(5):
    step(x, i % 2)
""",
    "np": """
for v in np.linspace(0.0, 1.0, 5):
    step(x, v)
""",
    "npscalar": """
for i in range(5):
    step(x, np.float32(i))
""",
    "outer": """
lr = 0.1
for i in range(5):
    step(x, lr)
""",
    "tensor": """
for i in range(5):
    step(x, tf.constant(i))
""",
    "ternary": """
for i in range(5):
    step(x, 0.1 if i < 3 else 0.01)
""",
    "tfrange": """
for i in tf.range(5):
    step(x, i)
""",
    "var": """
v = tf.Variable(0.0)
for i in range(5):
    v.assign(i)
    step(x, v)
""",
    "after_list": """
s = [0]
for i in range(5):
    s[0] += 1
step(x, s[0])
""",
    "attr": """
class C:
    pass
c = C()
c.n = 0
for i in range(5):
    c.n += 1
step(x, c.n)
""",
    "float_const": """
a = np.array([0.5, 2.0])
for i in range(5):
    step(x, float(a[0]))
""",
    "float_name": """
a = np.float32(3.0)
for i in range(5):
    step(x, float(a))
""",
    "idxconst": """
vals = [1, 2, 3, 4, 5]
for i in range(5):
    step(x, vals[2])
""",
    "lambda": """
run = lambda v: step(x, v)
for i in range(5):
    run(2)
""",
    "lambda2": """
n = 0
for i in range(5):
    n += 1
run = lambda: step(x, n)
run()
""",
    "len": """
names = ['a', 'b']
for i in range(5):
    step(x, float(len(names)))
""",
    "nonlocal": """
def go():
    n = 1
    def one():
        return step(x, n)
    for i in range(5):
        one()
go()
""",
    "npconst": """
for i in range(5):
    step(x, float(np.sqrt(2)))
""",
    "pop": """
q = [1, 2, 3]
n = q.pop()
for i in range(5):
    step(x, n)
""",
    "same": """
vals = [2, 2, 2, 2, 2]
for i in range(5):
    step(x, vals[i])
""",
    "tensorlist": """
vals = [tf.constant(1.0), tf.constant(2.0), tf.constant(3.0), tf.constant(4.0)]
for i in range(4):
    step(x, vals[i])
""",
}

PROGRAM: Final = """
import json, linecache, sys
import tensorflow as tf

def traces(name, text):
    path = f"{name}.py"
    linecache.cache[path] = len(text), None, text.splitlines(True), path  # which AutoGraph reads
    names = {"__name__": name}
    exec(compile(text, path, "exec"), names)
    return names["step"].experimental_get_tracing_count()

print(json.dumps({name: traces(name, text) for name, text in json.load(sys.stdin).items()}))
"""


def told(programs: dict[str, str], folder: Path) -> list[str]:
    """The programs in which the linter says that a number is part of the trace."""
    for name, text in programs.items():
        (folder / f"a_{name}.py").write_text(HEAD + text, encoding="utf-8")
    found = {Path(one.path).stem for one in check([folder], Settings()).findings if one.code == "XLA306"}
    return [name for name in programs if f"a_{name}" in found]


def test_numbers_that_vary_are_told(tmp_path: Path) -> None:
    assert told(VARYING, tmp_path) == [*VARYING]


def test_numbers_that_stay_are_not(tmp_path: Path) -> None:
    few = ["flag", "mod", "ternary"]  # two traces, for information
    assert [name for name in told(SAME, tmp_path) if name not in few] == []


@pytest.mark.compiler
def test_tensorflow_traces_for_each_number() -> None:
    programs = {
        name: HEAD + text for name, text in (VARYING | {f"same_{name}": text for name, text in SAME.items()}).items()
    }
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(programs),
        env=quiet,
        capture_output=True,
        text=True,
        check=True,
    )
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    assert [name for name in VARYING if counts[name] < 3] == []
    assert [name for name in SAME if counts[f"same_{name}"] > 2] == []
