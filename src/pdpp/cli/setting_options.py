"""Setting options: the flags of every server setting, merged with the file and environment."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from pdpp.cli.output import note
from pdpp.configuration.effective import CONFIG_VARIABLE, configure
from pdpp.configuration.kind import SWITCH, SettingKind
from pdpp.configuration.setting import Setting
from pdpp.configuration.table import FILE_NAME, SETTINGS
from pdpp.serving.data_folder import own_folder

F = TypeVar("F", bound=Callable[..., Any])

FLAGS = tuple(setting for setting in SETTINGS.values() if setting.flag)


class Flag(click.ParamType[object]):
    """Reads a flag as its setting is read anywhere else."""

    def __init__(self, kind: SettingKind) -> None:
        self._kind = kind
        self.name = kind.metavar

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Return the value that the text stands for."""
        try:
            return self._kind.read_text(value) if isinstance(value, str) else value
        except ValueError as problem:
            return self.fail(f"{problem}.", param, ctx)


def configured(function: F) -> F:
    """Call a command with ``configuration``: what a file, the environment and its flags say."""

    @wraps(function)
    def with_configuration(*, config: Path | None, **given: Any) -> Any:
        flags = {setting.name: given.pop(setting.name) for setting in FLAGS}
        configuration = configure({"config": config, **flags}, os.environ, own_folder())
        for remark in configuration.remarks:
            note(remark)
        return function(configuration=configuration, **given)

    command: Any = with_configuration
    command = click.option(
        "--config",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help=f"File of settings. Or set {CONFIG_VARIABLE}. [default: {FILE_NAME} in the data "
        "folder]",
    )(command)
    for setting in reversed(FLAGS):
        command = _option(setting)(command)
    return cast(F, command)


def _option(setting: Setting) -> Callable[[Any], Any]:
    help_text = f"{setting.meaning} [default: {setting.plain(setting.default)}]"
    if setting.kind is SWITCH:
        pair = f"{setting.option}/--no-{setting.option.removeprefix('--')}"
        return click.option(pair, setting.name, default=None, help=help_text)
    return click.option(
        setting.option,
        setting.name,
        type=Flag(setting.kind),
        metavar=setting.kind.metavar,
        help=help_text,
    )
