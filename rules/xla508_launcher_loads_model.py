"""A function that Accelerate launches on a TPU builds or loads the model, so every process has a copy.

## What it does
Reports code that builds or loads a PyTorch model inside the function passed to Hugging Face Accelerate's
`notebook_launcher`, if that may start the eight processes of a TPU. xlalint checks no other PyTorch code.

## What XLA does
XLA is not reached. The launcher forks one process for each core, and each builds its own copy in host memory. According
to Accelerate's documentation, this ends on Colab and Kaggle with "process 0 terminated with signal SIGSEGV". Not
measured, for lack of a TPU.

## Example
    def train():
        model = AutoModelForSequenceClassification.from_pretrained(name)
        ...

    notebook_launcher(train)

## Use instead
    model = AutoModelForSequenceClassification.from_pretrained(name)

    def train(model):
        ...

    notebook_launcher(train, (model,))

## Not flagged
- A launch with a number of processes other than eight. It is for GPUs, where each process needs its own model.
- A model that is passed as an argument, tokenizers, and configurations.

## Fix safety
Shown only: the model has to become an argument of the function and of all its callers.

## References
- https://huggingface.co/docs/accelerate/concept_guides/training_tpu
- https://huggingface.co/docs/accelerate/package_reference/launchers
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program
from xlalint.analysis.library.strategies import MODEL_MAKERS
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule

from ._launches import call_in_launched, launched

NEEDED: Final = "it needs a TPU, and PyTorch"


class LauncherLoadsModel(Rule):
    code = "XLA508"
    name = "launcher-loads-model"
    handles = (Program,)
    bad = (
        Bad(
            """
from accelerate import Accelerator, notebook_launcher
from transformers import AutoModelForSequenceClassification

def train():
    accelerator = Accelerator()
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased")
    model = accelerator.prepare(model)

notebook_launcher(train)
""",
            ['AutoModelForSequenceClassification.from_pretrained("bert-base-cased")'],
            None,
            effect=Effect.TPU,
            help="notebook_launcher(train, (model,))",
            why=NEEDED,
        ),
        Bad(
            """
import torch
from accelerate import notebook_launcher

class Net(torch.nn.Module):
    def forward(self, x):
        return x

def build():
    return Net()

def train(epochs):
    model = build()

notebook_launcher(train, args=(3,), num_processes=8)
""",
            ["build()"],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
        Bad(
            """
import timm
import accelerate
from accelerate import notebook_launcher

def main():
    network = timm.create_model("resnet50d", pretrained=True)

accelerate.notebook_launcher(main, ())
""",
            ['timm.create_model("resnet50d", pretrained=True)'],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
        Bad(
            """
from accelerate import notebook_launcher
from torchvision import models

notebook_launcher(lambda: models.resnet50().train(), (), num_processes=None)
""",
            ["models.resnet50()"],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
    )
    good = (
        Good(
            """
from accelerate import notebook_launcher
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased")

def train(model):
    model.train()

notebook_launcher(train, (model,))
""",
            None,
        ),
        Good(
            """
from accelerate import notebook_launcher
from transformers import AutoModelForSequenceClassification

def train():
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased")

notebook_launcher(train, num_processes=2)
""",
            None,
            why="two processes are for two GPUs",
        ),
        Good(
            """
from accelerate import notebook_launcher
from transformers import AutoConfig, AutoTokenizer

def train():
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    settings = AutoConfig.from_pretrained("bert-base-cased")

notebook_launcher(train)
""",
            None,
        ),
        Good(
            """
from accelerate import notebook_launcher
from transformers import AutoModel

def elsewhere():
    return AutoModel.from_pretrained("bert-base-cased")

def train(model):
    model.train()

notebook_launcher(train, (elsewhere(),))
""",
            None,
        ),
        Good(
            """
from accelerate import notebook_launcher

def train():
    print("no model here")

notebook_launcher(train)
""",
            None,
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                for launch, inside in launched(steps):
                    for step in inside:
                        if MODEL_MAKERS.match(step.api):
                            call = call_in_launched(step)
                            yield Draft(
                                f"`{brief(step.node)}` runs in a function that `notebook_launcher` starts: each "
                                "process of a TPU builds its own copy in host memory",
                                Effect.TPU,
                                "build the model once outside: notebook_launcher(train, (model,))",
                                location=call,
                                notes=(
                                    DraftNote(launch.location, "it is launched here"),
                                    *(
                                        (DraftNote(step.location, "the model is built here"),)
                                        if call != step.location
                                        else ()
                                    ),
                                ),
                            )
