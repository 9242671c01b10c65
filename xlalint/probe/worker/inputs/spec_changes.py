"""Tensors like others, of another dtype or rank."""

from __future__ import annotations

from dataclasses import replace

from xlalint.sources.specs import Spec

from .slots import tensor
from .tensors import FORMS


def of_dtype(one: Spec, dtype: str) -> Spec:
    return replace(one, dtype=dtype)


def of_rank(one: Spec, rank: int) -> Spec:
    return replace(tensor(rank, one.dtype), style=one.style if one.style in FORMS else "")


def less(one: Spec, ranks: int) -> Spec:
    return of_rank(one, max(len(one.dims) - ranks, 0))


def as_float(one: Spec, dtype: str) -> Spec:
    return replace(one, dtype=dtype) if one.dtype.startswith("float") else one
