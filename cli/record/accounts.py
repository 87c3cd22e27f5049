"""Who may sign in at the board with an account, and who signs orders there with a passkey, for `doctor`."""

from __future__ import annotations

from urllib.parse import urlsplit

from sisimpur.cli.wiring.records import open_books
from sisimpur.shared.config.settings import Secrets, load_board
from sisimpur.shared.config.settings_sign_in import SECRET_OF
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import counted
from sisimpur.shared.system.paths import Home


def ways_in(home: Home, secrets: Secrets) -> str:
    """Name them, and what to enter there. Misconfigured: the file is wrong, or a secret is missing."""
    file = load_board(home)
    if missing := [SECRET_OF[way] for way in file.sign_in.ways if not secrets.get(SECRET_OF[way])]:
        raise Misconfigured(f"config/board.yaml names a client, and config/.env lacks {' and '.join(missing)}")
    told = ["by a link of board --link"]
    for way in file.sign_in.ways:
        listed = sum(any(one.startswith(f"{way}:") for one in person.accounts) for person in file.sign_in.people)
        who = counted(listed, "person", "people") if listed else "nobody: `people` in config/board.yaml lists none"
        told.append(f"with {way}: {who}, its callback is {file.url}/signed-in/{way}")
    return "; ".join(told)


def signing(home: Home) -> str:
    """Say whether orders are signed with a passkey, and where. Misconfigured: no owner could."""
    from sisimpur.web.api.access.passkey_book import Passkeys
    from sisimpur.web.api.base.place import place_of

    file = load_board(home)
    if file.step_up == "off":
        return "off: the board asks for no passkey when a guarded change is approved (step_up in config/board.yaml)"
    place = place_of(file, file.port)
    if not (origins := tuple(filter(None, (place.passkeys_there, place.passkeys_here)))):
        raise Misconfigured("step_up is on, and a passkey is for a name: write one into `url` in config/board.yaml")
    sites, passkeys = {urlsplit(one).hostname for one in origins}, []
    if home.state.exists():
        with open_books(home, looking=True) as db:
            passkeys = [one for one in Passkeys(db).all() if one.site in sites]
    roles = [file.sign_in.listed(one.person) if ":" in one.person else one for one in passkeys]
    where = " or ".join(origins)
    if not (owners := sum(one is not None and one.role == "owner" for one in roles)):
        raise Misconfigured(f"step_up is on, and no owner has a passkey; add one under Settings, at {where}")
    return f"guarded: owners sign with {counted(owners, 'passkey')}, at {where}"
