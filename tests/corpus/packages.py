"""Which packages make up the corpus, and where they are unpacked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "packages.txt"
CORPUS = HERE.parent.parent / ".corpus"  # ignored by Git
TABLES = CORPUS / "tables"


@dataclass(frozen=True, slots=True)
class Package:
    """One pinned release."""

    name: str
    version: str

    @property
    def folder(self) -> Path:
        """Where its Python files are."""
        return CORPUS / self.name

    @property
    def table(self) -> Path:
        """Where the scan writes its findings."""
        return TABLES / f"{self.name}.tsv"


def packages() -> tuple[Package, ...]:
    """All packages of the corpus, by name."""
    lines = [line.strip() for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()]
    return tuple(Package(*line.split("==")) for line in lines if line and not line.startswith("#"))
