"""Git over HTTP, by `git http-backend`: clone, fetch and push of the local GitHub."""

from __future__ import annotations

import re
from pathlib import Path

from sisimpur.shared.repo.git import ENVIRONMENT
from sisimpur.shared.system.process import RunOptions, run
from sisimpur.simulators.github.call import Answer, Request
from sisimpur.simulators.github.rules import token_allows
from sisimpur.simulators.github.state import Account, Repository, State
from sisimpur.simulators.github.store import WORKFLOW_HOOKS

PATH = re.compile(r"/([^/]+/[^/]+)\.git(/info/refs|/git-upload-pack|/git-receive-pack)")
SETTINGS = ("safe.directory=*", "http.receivepack=true")
ASK_FOR_TOKEN = {"www-authenticate": 'Basic realm="GitHub"'}
SECONDS = 120.0
MOST = 512_000_000  # bytes of one answer


def is_git(path: str) -> bool:
    return PATH.fullmatch(path) is not None


def template_of(path: str) -> str:
    match = PATH.fullmatch(path)
    return "/{r}.git" + match[2] if match else ""


def repository_of(state: State, path: str) -> Repository | None:
    match = PATH.fullmatch(path)
    return state.repository(match[1]) if match else None


def answer(state: State, request: Request, account: Account | None) -> Answer:
    """The token is the password, whatever the user; without one nothing is shown, also of what is public."""
    repository = repository_of(state, request.path)
    if account is None:
        return _says(401, "Authentication required", ASK_FOR_TOKEN)
    if repository is None or not repository.may_read(account.login):
        return _says(404, "Repository not found.")
    if not _may(request, account, repository):
        return _says(403, f"Permission to {repository.full_name}.git denied to {account.login}.")
    return _backend(request, repository, account)


def is_push(request: Request) -> bool:
    return "git-receive-pack" in (request.path.rpartition("/")[2], request.query.get("service"))


def _may(request: Request, account: Account, repository: Repository) -> bool:
    if not is_push(request):
        return token_allows(account, repository, "contents=read")
    return repository.may_write(account.login) and token_allows(account, repository, "contents=write")


def _says(status: int, text: str, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, text, {"content-type": "text/plain; charset=utf-8", **(headers or {})})


def _backend(request: Request, repository: Repository, account: Account) -> Answer:
    match = PATH.fullmatch(request.path)
    environment = {
        **ENVIRONMENT,
        "GIT_PROJECT_ROOT": str(repository.commits.repository),
        "PATH_INFO": match[2] if match else "",
        "GIT_HTTP_EXPORT_ALL": "1",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query_text,
        "REMOTE_USER": account.login,
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
    }
    argv = ("git", *_settings(repository, account), "http-backend")
    done = run(argv, env=environment, timeout=SECONDS, data=request.body, how=RunOptions(limit=MOST))
    if not done.ok or done.cut:
        return _says(500, f"git http-backend: {done.end}, {done.complaint[:200]}")
    return _read(done.output)


def _settings(repository: Repository, account: Account) -> tuple[str, ...]:
    """A token that may not touch workflows has its pushes looked at."""
    looked_at = account.kind == "fine-grained" and "workflows" in account.lacks
    hooks = repository.commits.repository / WORKFLOW_HOOKS if looked_at else Path("/dev/null")
    settings = (*SETTINGS, f"core.hooksPath={hooks}")
    return tuple(word for setting in settings for word in ("-c", setting))


def _read(said: bytes) -> Answer:
    """A CGI program's answer: headers, an empty line, the body."""
    head, _, body = said.partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if ": " in line)
    headers = {name.lower(): value for name, value in fields.items()}
    status = int(headers.pop("status", "200").split()[0])
    return Answer(status, body, headers)
