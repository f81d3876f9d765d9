"""Plans: how the columns of a file become the fields of a record, decided once and kept."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

CSV, JSON, NDJSON = "csv", "json", "ndjson"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column or member by its name in the file, the field it becomes, and how it is written.

    ``kind`` is a kind of the declaration; ``form`` is how a time or a number is written as text.
    """

    name: str
    field: str
    kind: str
    form: str = ""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How files of one shape are read; a record is known by its ``key`` fields, or its content."""

    layout: str
    path: str
    stream: str
    key: tuple[str, ...]
    time: str
    columns: tuple[TableColumn, ...]
    declaration: Mapping[str, Any]

    @property
    def connector_key(self) -> str:
        """Return the name of the source."""
        return str(self.declaration["connector_key"])

    @property
    def primary_key(self) -> tuple[str, ...]:
        """Return the fields that the declaration names a record by."""
        streams = self.declaration["streams"]
        stream = next(stream for stream in streams if stream["name"] == self.stream)
        return tuple(stream["primary_key"])

    def as_json(self) -> dict[str, Any]:
        """Return the plan as it is kept."""
        return {
            **{name: getattr(self, name) for name in ("layout", "path", "stream", "time")},
            "key": list(self.key),
            "columns": [asdict(column) for column in self.columns],
            "declaration": self.declaration,
        }


def plan_from(document: Mapping[str, Any]) -> TablePlan:
    """Return the plan that was kept."""
    return TablePlan(
        layout=document["layout"],
        path=document["path"],
        stream=document["stream"],
        key=tuple(document["key"]),
        time=document["time"],
        columns=tuple(TableColumn(**column) for column in document["columns"]),
        declaration=document["declaration"],
    )
