"""Door to the repository's address. The only module that hands git a token, and that decides which addresses are taken.

https with a token from askpass.sh, or a local path. Nothing else: no ssh, no helper programs, no credentials in a URL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from sisimpur.shared.model.errors import ForgeUnavailable, Misconfigured, TeamError
from sisimpur.shared.model.text import one_line

ASKPASS = Path(__file__).with_name("askpass.sh")
WHERE = "config/targets"
OURSELVES = ("127.0.0.1", "localhost")  # the only hosts that may be spoken to without encryption


@dataclass(frozen=True)
class Remote:
    """Address of the target: an https URL or an absolute path. Misconfigured if it is anything else."""

    url: str
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.url.isprintable() or self.url.startswith("-"):
            raise _wrong(self.url, "it holds a control character, or begins with -")
        if not self.is_local:
            _check_url(self.url)

    @property
    def is_local(self) -> bool:
        return self.url.startswith("/")

    @property
    def protocol(self) -> str:
        """Name of its protocol, in git's words."""
        return "file" if self.is_local else urlsplit(self.url).scheme

    @property
    def origin(self) -> str:
        """`https://host[:port]`, as git writes it when it asks for a user."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


@contextmanager
def access(remote: Remote | None) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
    """Variables and descriptors for one run of git: it reaches this remote and nothing else, by its token."""
    environment = {"GIT_ALLOW_PROTOCOL": remote.protocol if remote else ""}
    if remote is None or remote.token is None or remote.is_local:
        yield environment, ()
        return
    descriptor = os.memfd_create("forge-token")
    try:
        os.write(descriptor, remote.token.encode())
        asking = {"GIT_ASKPASS": str(ASKPASS), "FORGE_ORIGIN": remote.origin, "FORGE_TOKEN_FD": str(descriptor)}
        yield environment | asking, (descriptor,)
    finally:
        os.close(descriptor)


def explain(complaint: str, remote: Remote) -> TeamError | None:
    """Turn what git says about a remote into an error that tells the owner what to do; None: it says something else."""
    said = complaint.lower()
    if any(word in said for word in ("authentication failed", "could not read username", "error: 403", "error: 401")):
        begin = f"{remote.url} refused the token" if remote.token else f"{remote.url} asks for a token"
        return Misconfigured(f"{begin}; put one that may read and write its contents into config/.env as GITHUB_TOKEN")
    if any(word in said for word in ("not found", "not appear to be a git repository", "does not exist", "error: 404")):
        return Misconfigured(f"there is no repository at {remote.url}; correct `repo:` in {WHERE}")
    if "from redirection" in said or "error: 30" in said:
        return Misconfigured(f"{remote.url} has moved; write its new address as `repo:` in {WHERE}")
    if "dubious ownership" in said:
        return Misconfigured(f"{remote.url} belongs to another user; run as its owner, or give another `repo:`")
    if any(word in said for word in ("unable to access", "could not resolve", "hung up", "early eof", "timed out")):
        return ForgeUnavailable(f"{remote.url} does not answer: {telling_line(complaint)}")
    return None


def telling_line(text: str) -> str:
    """The first line that says what git complains of, in at most 200 characters."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = next(
        (line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "no reason"
    )
    return one_line(telling, 200)


# --- which URLs are taken ------------------------------------------------------------------------------------


def _check_url(url: str) -> None:
    if re.match(r"(ssh://|git@|[\w.-]+@[\w.-]+:)", url):
        raise _wrong(url, f"ssh is not supported; write {_as_https(url)}")
    parts = _split(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in OURSELVES):
        raise _wrong(url, "write an https:// URL or an absolute path")
    if "@" in parts.netloc:
        raise Misconfigured(f"`repo:` in {WHERE} holds a user or a password; remove it, the token goes to config/.env")
    if not re.fullmatch(r"[A-Za-z0-9.-]+(:\d+)?", parts.netloc) or parts.query or parts.fragment or " " in url:
        raise _wrong(url, "write it as https://HOST/OWNER/NAME.git")


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise _wrong(url, "write it as https://HOST/OWNER/NAME.git") from None


def _as_https(url: str) -> str:
    host, path = re.sub(r"^(ssh://)?([^@/]*@)?", "", url).replace(":", "/", 1).split("/", 1)
    return f"https://{host}/{re.sub(r'^[0-9]+/', '', path)}"


def _wrong(url: str, why: str) -> Misconfigured:
    return Misconfigured(f"`repo:` in {WHERE} cannot be used ({url[:100]!r}): {why}")
