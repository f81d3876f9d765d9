"""One setting: what it is called in a file, in the environment and on a command line."""

from dataclasses import dataclass

from pdpp.configuration.kind import SettingKind, Value

PREFIX = "PDPP_"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name in a file, what it takes, what holds unless it is set, what it does.

    ``flag`` says that ``pdpp serve`` takes it as an option too; where there is no default value
    ``unset`` tells what holds instead, and ``sample`` is one that could be set.
    """

    name: str
    kind: SettingKind
    default: Value
    meaning: str
    flag: bool = False
    unset: str = ""
    sample: Value = None
    field: str = ""
    """The name in ``Settings`` or ``Lifetimes``, where it is another."""

    @property
    def variable(self) -> str:
        """Return the name in the environment."""
        return PREFIX + self.name.upper()

    @property
    def option(self) -> str:
        """Return the name on a command line."""
        return "--" + self.name.replace("_", "-")

    def plain(self, value: Value) -> str:
        """Return a value for a person, in words where there is none."""
        return self.unset if value in (None, ()) else self.kind.plain(value)
