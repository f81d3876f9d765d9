"""Arguments: what each tool takes, declared once; schemas and strict checks come from there."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import NamedTuple, TypeGuard

from pdpp.evidence.budget import json_length
from pdpp.evidence.text import flat_json_text, json_text
from pdpp.model.decimals import is_number
from pdpp.model.errors import InvalidExpand, InvalidFilter, InvalidRequest
from pdpp.model.vocabulary import RANGE_OPERATORS

LONGEST = 1_024
LONGEST_CURSOR = 4_096
_LARGEST = 2**53
_MOST_ITEMS = 100
_MOST_EXAMPLE = 400
_MOST_CHARS = 3_000
"""How long the arguments may be together: results repeat them in the call that goes on."""

HOSTS_OWN = frozenset({"wait_for_previous"})
"""Arguments that a host adds to every tool for itself and passes on: Gemini CLI's."""

_UNSOUND = re.compile("[\x00\ud800-\udfff]")
_DIGITS = re.compile("[0-9]{1,9}")


class ArgumentType(StrEnum):
    """How an argument is written."""

    TEXT = "string"
    INTEGER = "integer"
    LIST = "array"
    FILTER = "filter"
    LIMITS = "limits"


class Argument(NamedTuple):
    """One argument of a tool."""

    name: str
    form: ArgumentType = ArgumentType.TEXT
    about: str = ""
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int | None = None
    required: bool = False
    longest: int = LONGEST
    locates: bool = False
    """Whether it is a part of a way to name what is read, so that a call cannot do without."""

    def schema(self) -> dict[str, object]:
        """Return the flat JSON Schema of the argument."""
        schema: dict[str, object] = {"type": "object" if self.form in _OBJECTS else self.form.value}
        if self.form is ArgumentType.LIST:
            schema["items"] = {"type": "string"}
        elif self.form is ArgumentType.FILTER:
            # Hosts stumble over unions of types, and a value may be a scalar or a range: the
            # description says what it is, and the check below refuses the rest.
            schema["minProperties"] = 1
            schema["additionalProperties"] = True
        elif self.form is ArgumentType.LIMITS:
            schema["minProperties"] = 1
            schema["additionalProperties"] = {"type": "integer"}
        elif self.form is ArgumentType.INTEGER:
            schema["minimum"] = self.least
            if self.most is not None:
                schema["maximum"] = self.most
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.about:
            schema["description"] = self.about
        return schema


_EMPTY: Mapping[ArgumentType, Sequence[object]] = {
    ArgumentType.TEXT: ("",),
    ArgumentType.INTEGER: ("",),
    ArgumentType.LIST: ([], ""),
}
"""Values by which hosts say that an argument is not given."""

_OBJECTS = (ArgumentType.FILTER, ArgumentType.LIMITS)
_EXAMPLES: Mapping[ArgumentType | None, Mapping[str, object]] = {
    ArgumentType.FILTER: {"filter": {"sent_at": {"gte": "2026-01-01T00:00:00Z"}}},
    ArgumentType.LIMITS: {"expand": ["attachments"], "expand_limit": {"attachments": 3}},
}


class Signature(NamedTuple):
    """The arguments of one tool, with a call that shows how it is used."""

    tool: str
    arguments: Mapping[str, Argument]
    example: Mapping[str, object]

    def schema(self) -> dict[str, object]:
        """Return the tool's input schema."""
        schema: dict[str, object] = {
            "type": "object",
            "properties": {name: arg.schema() for name, arg in self.arguments.items()},
            "additionalProperties": False,
        }
        required = [name for name, arg in self.arguments.items() if arg.required]
        if required:
            schema["required"] = required
        return schema

    def check(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return the arguments as they may be used, or refuse with a call that would do."""
        try:
            return self._checked(given)
        except InvalidRequest as refused:
            arguments = self._example_for(refused.param or "", given)
            refused.detail["example"] = {"tool": self.tool, "arguments": arguments}
            raise

    def _checked(self, given: Mapping[str, object]) -> dict[str, object]:
        for name in given:
            if name not in self.arguments and name not in HOSTS_OWN:
                raise self._unknown(name)
        checked: dict[str, object] = {}
        for name, argument in self.arguments.items():
            value = given.get(name)
            if value is None or value in _EMPTY.get(argument.form, ()):
                if argument.required:
                    raise self._refuse(InvalidRequest, f"{name} is required", name)
                continue
            checked[name] = self._value(argument, value)
        self._check_length(checked)
        return checked

    def _check_length(self, checked: Mapping[str, object]) -> None:
        repeated = {k: v for k, v in checked.items() if self.arguments[k].longest == LONGEST}
        if len(flat_json_text(repeated)) > _MOST_CHARS:
            longest = max(repeated, key=lambda name: json_length(repeated[name]))
            raise self._refuse(
                InvalidRequest,
                f"the arguments are longer than {_MOST_CHARS} characters together",
                longest,
            )

    def _value(self, argument: Argument, value: object) -> object:
        match argument.form:
            case ArgumentType.TEXT:
                return self._text(argument, value)
            case ArgumentType.INTEGER:
                return self._integer(argument, value)
            case ArgumentType.LIST:
                return self._list(argument, value)
            case ArgumentType.FILTER:
                return self._filter(argument, value)
        return self._limits(argument, value)

    def _text(self, argument: Argument, value: object) -> str:
        if not isinstance(value, str) or not value:
            raise self._refuse(InvalidRequest, f"{argument.name} is a string", argument.name)
        if len(value) > argument.longest:
            problem = f"{argument.name} is longer than {argument.longest} characters"
            raise self._refuse(InvalidRequest, problem, argument.name)
        if _UNSOUND.search(value):
            problem = f"{argument.name} holds a character that is no text"
            raise self._refuse(InvalidRequest, problem, argument.name)
        if argument.choices and value not in argument.choices:
            offered = ", ".join(argument.choices)
            raise self._refuse(
                InvalidRequest, f"{argument.name} is one of: {offered}", argument.name
            )
        return value

    def _integer(self, argument: Argument, value: object) -> int:
        value = _whole(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._refuse(InvalidRequest, f"{argument.name} is a whole number", argument.name)
        if not argument.least <= value <= (_LARGEST if argument.most is None else argument.most):
            limits = f"from {argument.least}" + (f" to {argument.most}" if argument.most else "")
            raise self._refuse(InvalidRequest, f"{argument.name} is {limits}", argument.name)
        return value

    def _list(self, argument: Argument, value: object) -> list[str]:
        name = argument.name
        items: list[object] = value if isinstance(value, list) else []
        names = [item for item in items if _is_name(item) and "," not in item]
        if len(names) < len(items) or not 0 < len(names) <= _MOST_ITEMS:
            raise self._refuse(
                InvalidRequest, f"{name} is a list of at most {_MOST_ITEMS} names", name
            )
        return names

    def _filter(self, argument: Argument, value: object) -> dict[str, object]:
        name = argument.name
        if not isinstance(value, dict) or not value:
            raise self._refuse(
                InvalidFilter,
                "filter is an object of field: value, or field: {gte|gt|lte|lt: value}; "
                "never a string, never empty",
                name,
            )
        for field, wanted in value.items():
            if not _is_name(field):
                raise self._refuse(
                    InvalidFilter, f"write the plain field name, not {_quoted(field)}", name
                )
            if isinstance(wanted, dict):
                if not wanted or not wanted.keys() <= set(RANGE_OPERATORS):
                    raise self._refuse(
                        InvalidFilter,
                        f"the range of {_quoted(field)} takes only gte, gt, lte, lt",
                        name,
                    )
                if not all(_scalar(limit) for limit in wanted.values()):
                    raise self._refuse(
                        InvalidFilter, f"{_quoted(field)}: a limit is a scalar", name
                    )
            elif not _scalar(wanted):
                raise self._refuse(
                    InvalidFilter, f"{_quoted(field)} takes one scalar or a range", name
                )
        return {name: _plain_value(wanted) for name, wanted in value.items()}

    def _limits(self, argument: Argument, value: object) -> dict[str, int]:
        name = argument.name
        if not isinstance(value, dict) or not value:
            raise self._refuse(
                InvalidExpand, f"{name} is an object of relation: number, never empty", name
            )
        for relation, limit in value.items():
            if not _is_name(relation):
                raise self._refuse(
                    InvalidExpand, f"write the plain relation name, not {_quoted(relation)}", name
                )
            whole = _whole(limit)
            if isinstance(whole, bool) or not isinstance(whole, int) or whole < 1:
                raise self._refuse(
                    InvalidExpand, f"{_quoted(relation)} takes a whole number from 1", name
                )
        return {relation: int(limit) for relation, limit in value.items()}

    def _unknown(self, name: str) -> InvalidRequest:
        near = self._nearest(name)
        hint = "" if near is None else f"did you mean {near}? "
        offered = ", ".join(self.arguments)
        what = f"unknown argument {_quoted(name)}; {hint}it takes: {offered}"
        return self._refuse(InvalidRequest, what, name[:60])

    def _nearest(self, name: str) -> str | None:
        """Return the argument that a wrong name most likely means."""
        import difflib

        near = difflib.get_close_matches(name, self.arguments, n=1, cutoff=0.4)
        near = near or [own for own in self.arguments if name and own.startswith(name)]
        return near[0] if near else None

    def _example_for(self, param: str, given: Mapping[str, object]) -> dict[str, object]:
        """Return the caller's own call, put right if that makes it good, or the tool's example."""
        own = self._put_right(param, given)
        if own is not None:
            with suppress(InvalidRequest):
                checked = self._checked(own)
                if json_length(checked) <= _MOST_EXAMPLE:
                    return checked
        form = self.arguments[param].form if param in self.arguments else None
        return {**self.example, **_EXAMPLES.get(form, {})}

    def _put_right(self, param: str, given: Mapping[str, object]) -> dict[str, object] | None:
        """Return a call with one argument renamed, written in its form, or left out."""
        rest = {name: value for name, value in given.items() if name not in {param, *HOSTS_OWN}}
        argument = self.arguments.get(param)
        if argument is None:
            near = self._nearest(param)
            return None if near is None or near in rest else {**rest, near: given.get(param)}
        if argument.form in _OBJECTS:
            return None
        meant = _meant(argument, given.get(param))
        if meant is not None:
            return {**rest, param: meant}
        if not argument.required and not argument.locates:
            return rest
        # An argument beside it may not go with the example's value, as a field with a count.
        needed = {name: value for name, value in rest.items() if self._requires(name)}
        return {**needed, param: self.example[param]} if needed else None

    def _requires(self, name: str) -> bool:
        return name in self.arguments and self.arguments[name].required

    def _refuse(self, error: type[InvalidRequest], what: str, param: str) -> InvalidRequest:
        return error(f"{self.tool}: {what}. Nothing was read.", param=param)


def refusal(tool: str, what: str, param: str, example: Mapping[str, object]) -> InvalidRequest:
    """Return the refusal of a call, with one that would do; it is shown as the next call."""
    call = {"tool": tool, "arguments": dict(example)}
    return InvalidRequest(f"{tool}: {what}. Nothing was read.", param=param, example=call)


def _meant(argument: Argument, value: object) -> object:
    """Return a value in the form of its argument, where its meaning is plain; None otherwise."""
    if argument.form is ArgumentType.LIST and isinstance(value, str):
        return [name.strip() for name in value.split(",")]
    if argument.form is not ArgumentType.INTEGER or isinstance(value, bool):
        return None
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if not isinstance(value, int):
        return None
    return max(argument.least, value if argument.most is None else min(value, argument.most))


def _whole(value: object) -> object:
    """Return a whole number as one, however a host wrote it: 2.0 is 2."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plain_value(wanted: object) -> object:
    if isinstance(wanted, dict):
        return {operator: _whole(limit) for operator, limit in wanted.items()}
    return _whole(wanted)


def _scalar(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST and not _UNSOUND.search(value)
    # What is no number is on neither side of a bound, and a whole number of any length can be
    # compared with one, but not made a float.
    return is_number(value) and -_FARTHEST <= value <= _FARTHEST


_FARTHEST = 1e300


def _is_name(value: object) -> TypeGuard[str]:
    """Tell whether a value may name a field, stream or relation; brackets are ours to write."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST:
        return False
    return not _UNSOUND.search(value) and "[" not in value and "]" not in value


def _quoted(name: str) -> str:
    """Return a name that a caller sent, short and quoted."""
    return json_text(name[:60])


def call_text(tool: str, arguments: Mapping[str, object]) -> str:
    """Return a call as a model can copy it."""
    return f"{tool} {flat_json_text(arguments)}"


def signature(tool: str, example: Mapping[str, object], arguments: Sequence[Argument]) -> Signature:
    """Put a tool's signature together."""
    return Signature(tool, {argument.name: argument for argument in arguments}, example)
