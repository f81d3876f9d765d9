"""The owner's own sources: tables whose plan was drafted and approved, or declared by hand."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pdpp.model.errors import ImportRefused
from pdpp.model.validation import parse_declaration
from pdpp.sources import registry
from pdpp.sources.importing.recognition import RecognisedExport, recognise_as
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import OwnerChoices
from pdpp.sources.table.declared import declared_plan
from pdpp.sources.table.draft import draft
from pdpp.sources.table.plan import TablePlan, plan_from
from pdpp.sources.table.source import TableSource


@dataclass(frozen=True, slots=True)
class OwnTable:
    """A plan that is about to become a source, with remarks on it."""

    plan: TablePlan
    notes: tuple[str, ...] = ()

    @classmethod
    def drafted(
        cls, tree: Tree, key: str | None, settings: Mapping[str, str], taken: Collection[str]
    ) -> "OwnTable":
        """Draft a plan from what a file holds."""
        drafted = draft(tree, key, settings)
        parse_declaration(drafted.plan.declaration)
        _refuse_taken(drafted.plan, taken)
        return cls(drafted.plan, drafted.notes)

    @classmethod
    def declared(
        cls, tree: Tree, document: Mapping[str, Any], stream: str | None, taken: Collection[str]
    ) -> "OwnTable":
        """Match a file with a declaration that the owner wrote."""
        plan = declared_plan(tree, document, stream)
        _refuse_taken(plan, [key for key in taken if key in registry.names()])
        return cls(plan)

    def lines(self) -> Iterator[str]:
        """Yield the plan for a person to approve."""
        plan = self.plan
        known = " and ".join(plan.key) or "its whole content"
        yield f"A {plan.layout} table as {plan.connector_key!r}; a record is known by {known}"
        properties = _properties(plan)
        searched = _stream(plan).get("query", {}).get("search", {}).get("lexical_fields", ())
        for column in plan.columns:
            about = properties.get(column.field, {})
            words = [column.kind, about.get("x_pdpp_role"), "searched" * (column.field in searched)]
            named = "" if column.name == column.field else f" ({column.name[:60]})"
            yield f"  {column.field}{named}: {', '.join(text for text in words if text)}"
        yield from self.notes


def _stream(plan: TablePlan) -> Mapping[str, Any]:
    streams = plan.declaration["streams"]
    declared: Mapping[str, Any] = next(
        stream for stream in streams if stream["name"] == plan.stream
    )
    return declared


def _properties(plan: TablePlan) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = _stream(plan)["schema"]["properties"]
    return properties


def _refuse_taken(plan: TablePlan, taken: Collection[str]) -> None:
    if plan.connector_key in taken or plan.connector_key in registry.names():
        raise ImportRefused(
            f"there is a source {plan.connector_key!r} already; name this one with --as KEY"
        )


def own_sources(plans: Iterable[Mapping[str, Any]]) -> list[TableSource]:
    """Return the sources of the plans that were kept."""
    return [TableSource(plan_from(plan)) for plan in plans]


def own_export(tree: Tree, choices: OwnerChoices, own: OwnTable) -> RecognisedExport:
    """Return what the owner's plan sees in an export."""
    return recognise_as(tree, choices, TableSource(own.plan))
