"""Preferences: how the owner wants dates to be written, kept with the store."""

from dataclasses import asdict, dataclass
from datetime import tzinfo
from zoneinfo import ZoneInfo, available_timezones

import orjson

from pdpp.model.errors import InvalidRequest
from pdpp.pages.dates import LANGUAGES, Dates
from pdpp.service.local_zone import local_zone
from pdpp.store.vault import Vault, VaultReader

_SETTING = "preferences"


@dataclass(frozen=True, slots=True)
class Preferences:
    """The zone and the language of dates; an empty zone is that of the server."""

    time_zone: str = ""
    language: str = "en"

    @property
    def zone(self) -> tzinfo:
        """Return the zone itself."""
        return ZoneInfo(self.time_zone) if self.time_zone else local_zone()

    @property
    def dates(self) -> Dates:
        """Return what writes dates in this way."""
        return Dates(self.zone, self.language)


def read_preferences(vault: VaultReader) -> Preferences:
    """Return what the owner chose, or the defaults."""
    kept = vault.setting(_SETTING)
    return Preferences() if kept is None else Preferences(**orjson.loads(kept))


def keep_preferences(vault: Vault, preferences: Preferences) -> None:
    """Keep what the owner chose, if there are such a zone and such a language."""
    if preferences.time_zone and preferences.time_zone not in available_timezones():
        raise InvalidRequest(
            "Write the time zone as a name such as Europe/Lisbon, or leave it empty.",
            param="time_zone",
        )
    if preferences.language not in LANGUAGES:
        raise InvalidRequest("Choose one of the languages offered.", param="language")
    with vault.transaction() as transaction:
        transaction.keep_setting(_SETTING, orjson.dumps(asdict(preferences)))
