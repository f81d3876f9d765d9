"""What is asked of an aggregation, and what is added up for each group."""

from dataclasses import dataclass, field
from decimal import Decimal

from pdpp.store.cell import CellValue
from pdpp.store.scope import Reach


@dataclass(frozen=True, slots=True)
class AggregateQuery:
    """One number, or one number per group, over several reaches."""

    reaches: tuple[Reach, ...]
    metric: str
    field: str | None = None
    group_by: str | None = None
    bucket_by: str | None = None


@dataclass(slots=True)
class GroupTotal:
    """What is added up for one group; the totals of several reaches merge."""

    count: int = 0
    total: Decimal = Decimal(0)
    least: CellValue = None
    most: CellValue = None
    distinct: set[CellValue] = field(default_factory=set)
