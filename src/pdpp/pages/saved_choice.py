"""Saved choices: what the owner ticked once on a consent page, kept under a name for the next one.

Only ticks, a period and a length are kept. What a source declares later is not among them, and an
account that is gone is left out: a saved choice never opens more than it did.
"""

from collections.abc import Mapping

import orjson

from pdpp.authz.requester import one_line
from pdpp.model.errors import Conflict, InvalidRequest
from pdpp.pages.form import PostedForm
from pdpp.store.catalogue import Catalogue
from pdpp.store.vault import Vault, VaultReader

_SETTING = "saved_choices"
_KEPT = ("connection", "stream", "field", "span", "since", "until", "term")
_MOST = 12
_LONGEST_NAME = 40
_MOST_BYTES = 256 << 10

SavedChoices = Mapping[str, Mapping[str, list[str]]]


def saved_choices(vault: VaultReader) -> SavedChoices:
    """Return what was saved, by name."""
    kept = vault.setting(_SETTING)
    choices: SavedChoices = {} if kept is None else orjson.loads(kept)
    return choices


def save_choice(vault: Vault, name: str, form: PostedForm) -> None:
    """Keep the ticks of a form under a name, in place of what it named before."""
    name = one_line(" ".join(name.split()), _LONGEST_NAME)
    if not name:
        raise InvalidRequest("Give these choices a name, then save them.", param="save_as")
    ticks = {field: list(form.all(field)) for field in _KEPT if form.all(field)}
    if not ticks.get("connection"):
        raise InvalidRequest("Tick at least one account before you save the choices.")
    with vault.transaction() as transaction:
        choices = {**saved_choices(transaction), name: ticks}
        encoded = orjson.dumps(choices)
        if len(choices) > _MOST or len(encoded) > _MOST_BYTES:
            raise Conflict("There are too many saved choices; forget one first.")
        transaction.keep_setting(_SETTING, encoded)


def forget_choice(vault: Vault, name: str) -> None:
    """Forget what was saved under a name."""
    with vault.transaction() as transaction:
        choices = {
            known: ticks for known, ticks in saved_choices(transaction).items() if known != name
        }
        transaction.keep_setting(_SETTING, orjson.dumps(choices))


def saved_form(
    form: PostedForm, ticks: Mapping[str, list[str]], catalogue: Catalogue
) -> PostedForm:
    """Return a form with the saved ticks that still exist in place of its own."""
    filled = form.without(*_KEPT)
    for field, values in ticks.items():
        filled = filled.replaced(
            field, [value for value in values if _is_there(value, field, catalogue)]
        )
    return filled


def _is_there(value: str, field: str, catalogue: Catalogue) -> bool:
    connection_id, _, rest = value.partition("/")
    if field == "connection":
        return value in catalogue.connections
    if field not in ("stream", "field"):
        return True
    feed = catalogue.feeds.get((connection_id, rest.partition("/")[0]))
    return feed is not None and (field == "stream" or rest.partition("/")[2] in feed.stream.fields)
