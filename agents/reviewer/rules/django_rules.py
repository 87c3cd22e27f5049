"""Findings about Django: doors left open in settings and views, and models without a migration.

Names decide what is meant; whether a check is a good one is for the model and the tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sisimpur.agents.reviewer.rules.case import (
    Case,
    ChangedFile,
    PythonTree,
    is_constant,
    keyword,
    target_names,
    text_of,
)
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.model.scope import matches
from sisimpur.shared.repo.file_parts import Function, dumped, span

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW

SETTINGS = ("settings.py", "settings_*.py", "settings/", "*_settings.py")
OTHER_SETTINGS = ("*local*", "*dev*", "*test*", "*debug*")  # not those of production
CHECKS = re.compile(
    r"verif|compare_digest|authentic|signed|signature|hmac|(?:check|valid|require)\w*_(?:token|key|secret)|has_perm",
    re.I,
)
SIGN_IN = {
    *("login_required", "permission_required", "user_passes_test", "staff_member_required", "csrf_protect"),
    *("LoginRequiredMixin", "PermissionRequiredMixin", "UserPassesTestMixin"),
}
MIDDLEWARE = ("CsrfViewMiddleware", "SecurityMiddleware", "AuthenticationMiddleware", "XFrameOptionsMiddleware")
UNSAFE_SETTINGS = {
    "SESSION_COOKIE_SECURE": False,
    "CSRF_COOKIE_SECURE": False,
    "SECURE_SSL_REDIRECT": False,
    "SESSION_COOKIE_HTTPONLY": False,
    "CORS_ALLOW_ALL_ORIGINS": True,
    "CORS_ORIGIN_ALLOW_ALL": True,
}


def findings(case: Case) -> Iterator[Finding]:
    yield from of_lines(case)
    for file in case.code:
        assert file.tree
        yield from _gone(file, file.tree)
    yield from _missing_migrations(case)


def of_lines(case: Case) -> Iterator[Finding]:
    """Find what a line or a view says, whatever was there before."""
    for file in case.code:
        assert file.tree
        if matches(file.path, SETTINGS):
            yield from _settings(file, file.tree)
        for function in file.tree.functions:
            yield from _view(file, file.tree, function)


# --- settings ------------------------------------------------------------------------------------------------


def _settings(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    if matches(file.path.rpartition("/")[2], OTHER_SETTINGS):
        return
    for node in tree.nodes:
        line = file.first_added(*span(node)) if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if line is None or not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        guarded = any(isinstance(above, ast.If) for above in tree.above(node))
        for name in target_names(node):
            if found := _setting(name, node.value):
                yield file.finding(line, LOW if guarded else found[0], "open setting", f"{name} {found[1]}")


def _setting(name: str, value: ast.expr) -> tuple[Severity, str] | None:
    texts = [text for node in ast.walk(value) if (text := text_of(node)) is not None]
    if name == "DEBUG" and (is_constant(value, True) or _default_is_true(value)):
        return HIGH, "is on for everybody: errors show code and settings; let it come from the environment, off"
    if name == "ALLOWED_HOSTS" and "*" in texts:
        return HIGH, "allows every host name; list the names, or take them from the environment"
    if name in ("SECRET_KEY", "SECRET_KEY_FALLBACKS") and (text_of(value) or isinstance(value, ast.JoinedStr)):
        return HIGH, "is written down: whoever reads this file can sign sessions; take it from the environment"
    if name == "SECRET_KEY" and len(texts) > 1 and texts[-1]:
        return MEDIUM, "has a default that everybody can read; fail without one, or make a random one"
    if name in UNSAFE_SETTINGS and is_constant(value, UNSAFE_SETTINGS[name]):
        return MEDIUM, f"is {UNSAFE_SETTINGS[name]}; on a real site it must not be"
    return None


def _default_is_true(value: ast.expr) -> bool:
    """`config("DEBUG", default=True)`, `environ.get("DEBUG", "1") == "1"`."""
    wanted = [True, "1", "true", "yes", "on"]
    if isinstance(value, ast.Compare):
        wanted = [node.value for side in value.comparators for node in ast.walk(side) if isinstance(node, ast.Constant)]
    calls = (node for node in ast.walk(value) if isinstance(node, ast.Call))
    defaults = (one for call in calls for one in (*call.args[1:], keyword(call, "default")))
    values = (one.value for one in defaults if isinstance(one, ast.Constant))
    return any((one.lower() if isinstance(one, str) else one) in wanted for one in values)


# --- views ---------------------------------------------------------------------------------------------------


def _view(file: ChangedFile, tree: PythonTree, function: Function) -> Iterator[Finding]:
    line = file.first_added(*span(function))
    if "csrf_exempt" in _decorators(function, tree) and not _checks(function, tree):
        before = _twin(file.tree_before, function)
        if line or (before and file.tree_before and _checks(before, file.tree_before)):
            text = (
                "csrf_exempt without a check of a signature or token in the view: any site can send this for a visitor"
            )
            yield file.finding(line or function.lineno, HIGH, "csrf exempt", text)
    yield from _redirects(file, tree, function)


def _decorators(node: Function | ast.ClassDef, tree: PythonTree) -> set[str]:
    """Last names of decorators and of their arguments (method_decorator(csrf_exempt))."""
    names = (tree.dotted(one) for decorator in node.decorator_list for one in ast.walk(decorator))
    return {name.rpartition(".")[2] for name in names}


def _checks(function: Function, tree: PythonTree) -> bool:
    """Say whether it, or a decorator, calls something whose name says that it checks who is asking."""
    called = {tree.dotted(node.func).rpartition(".")[2] for node in ast.walk(function) if isinstance(node, ast.Call)}
    return any(CHECKS.search(name) for name in called | _decorators(function, tree))


def _twin(tree: PythonTree | None, function: Function) -> Function | None:
    """The function of that name before the change."""
    return next((one for one in tree.functions if one.name == function.name), None) if tree else None


def _redirects(file: ChangedFile, tree: PythonTree, function: Function) -> Iterator[Finding]:
    """A redirect to what the visitor sent, in a function that does not ask whether the host is ours."""
    nodes = list(ast.walk(function))
    if any(isinstance(node, ast.Attribute | ast.Name) and "allowed_host" in _last(node) for node in nodes):
        return
    sent = {
        name
        for node in nodes
        if isinstance(node, ast.Assign) and _from_request(node.value)
        for name in target_names(node)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and tree.dotted(node.func).rpartition(".")[2] in REDIRECTS and node.args:
            to, line = node.args[0], file.first_added(*span(node))
            if line and (_from_request(to) or (isinstance(to, ast.Name) and to.id in sent)):
                text = "redirects to what the visitor sent; ask url_has_allowed_host_and_scheme first"
                yield file.finding(line, MEDIUM, "open redirect", text)


REDIRECTS = ("redirect", "HttpResponseRedirect", "HttpResponsePermanentRedirect")


def _last(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _from_request(node: ast.AST) -> bool:
    """request.GET[...], request.POST.get(...)."""
    return any(isinstance(one, ast.Attribute) and one.attr in ("GET", "POST", "COOKIES") for one in ast.walk(node))


def _gone(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    """A protection that stood here before."""
    before = _protected(file.tree_before) if file.tree_before else {}
    for name, (line, now) in _protected(tree).items():
        for lost in sorted(before.get(name, (0, set()))[1] - now):
            text = f"{name} lost its {lost}; put it back: whoever may call it now is for the owner to say"
            yield file.finding(line, HIGH, "protection gone", text)
    for name in MIDDLEWARE:
        if name in (file.before or "") and name not in (file.after or ""):
            yield file.finding(0, HIGH, "protection gone", f"{name} is no longer used; put it back")


def _protected(tree: PythonTree) -> dict[str, tuple[int, set[str]]]:
    """Function or class -> its line, and what of SIGN_IN decorates it or is its base."""
    found = {}
    for node in tree.nodes:
        if isinstance(node, Function | ast.ClassDef):
            bases = {tree.dotted(base).rpartition(".")[2] for base in getattr(node, "bases", ())}
            found[node.name] = (node.lineno, (_decorators(node, tree) | bases) & SIGN_IN)
    return found


# --- models without a migration ------------------------------------------------------------------------------

RELATIONS = ("ForeignKey", "OneToOneField", "ManyToManyField")
OF_THE_TABLE = ("constraints", "indexes", "unique_together", "index_together", "db_table")
MODELS = re.compile(r"(?P<app>.*?)(?:^|/)(?:models\.py|models/[^/]+\.py)$")


def _missing_migrations(case: Case) -> Iterator[Finding]:
    for file in case.files:
        where = MODELS.match(file.path)
        if where and file.tree and not file.is_test and _tracks(case, folder := _folder(where["app"])):
            changed = _changed_fields(file.tree_before, file.tree)
            if changed and not any(other.path.startswith(folder) for other in case.files):
                name, line = changed
                text = f"{name} differs from the newest migration; add one in {folder}"
                yield file.finding(_nearest(file, line), Severity.MEDIUM, "no migration", text)


def _folder(app: str) -> str:
    return f"{app}/migrations/" if app else "migrations/"


def _tracks(case: Case, folder: str) -> bool:
    return any(re.fullmatch(re.escape(folder) + r"\d{4}\w*\.py", path) for path in case.tracked)


def _changed_fields(before: PythonTree | None, after: PythonTree) -> tuple[str, int] | None:
    """The first field (Class.name) that is new, gone or different, and its line."""
    old, new = _fields(before) if before else {}, _fields(after)
    for name in (*new, *old):
        if name not in old or name not in new or old[name][0] != new[name][0]:
            return name, new[name][1] if name in new else 1
    return None


def _fields(tree: PythonTree) -> dict[str, tuple[str, int]]:
    """Class.name -> what it is made of, and its line."""
    found: dict[str, tuple[str, int]] = {}
    for node in tree.nodes:
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                names = target_names(one)
                if names and isinstance(one, ast.Assign | ast.AnnAssign) and _counts(node, names[0], one.value, tree):
                    assert one.value
                    found[f"{_owner(node, tree)}.{names[0]}"] = (dumped(one.value), span(one)[0])
    return found


def _counts(owner: ast.ClassDef, name: str, value: ast.expr | None, tree: PythonTree) -> bool:
    if owner.name == "Meta":
        return name in OF_THE_TABLE and value is not None
    kind = tree.dotted(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
    is_form = any("Form" in tree.dotted(base) or "Serializer" in tree.dotted(base) for base in owner.bases)
    return not is_form and (kind in RELATIONS or kind.endswith("Field"))


def _owner(node: ast.ClassDef, tree: PythonTree) -> str:
    above = next((one for one in tree.above(node) if isinstance(one, ast.ClassDef)), None)
    return above.name if node.name == "Meta" and above else node.name


def _nearest(file: ChangedFile, line: int) -> int:
    return min(file.added, key=lambda number: abs(number - line), default=0)
