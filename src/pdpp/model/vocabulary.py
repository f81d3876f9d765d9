"""The words declarations use of a field: what its values are, how compared, how presented."""

from enum import StrEnum

RANGE_OPERATORS = ("gte", "gt", "lte", "lt")


class Kind(StrEnum):
    """How a field's value is read, compared and shown."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE_TIME = "date-time"
    DATE = "date"
    JSON = "json"
    BINARY = "binary"
    BLOB = "blob"


class Role(StrEnum):
    """How a field is presented; nothing is promoted without one."""

    TITLE = "primary-title"
    BODY = "body"
    SECONDARY = "secondary"
    EVENT_TIME = "event-time"
    ACTOR = "actor"
    AMOUNT = "amount"
    LINK = "link"
    THREAD = "thread"
