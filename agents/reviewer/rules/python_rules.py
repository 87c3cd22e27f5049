"""Python that should not get into a product: dangerous calls, surprising imports, left-overs of debugging.

Names are followed through imports; what is built at run time is not. Only added lines count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile, PythonTree, is_constant, keyword, text_of
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.repo.file_parts import span

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW

CALLS = {  # dotted name -> how bad, and what would be right
    "eval": (HIGH, "runs text as code; parse it instead (ast.literal_eval, json)"),
    "exec": (HIGH, "runs text as code; write the code itself"),
    "os.system": (HIGH, "starts a shell; use subprocess.run with a list of arguments"),
    "os.popen": (HIGH, "starts a shell; use subprocess.run with a list of arguments"),
    "subprocess.getoutput": (HIGH, "starts a shell; use subprocess.run with a list of arguments"),
    "subprocess.getstatusoutput": (HIGH, "starts a shell; use subprocess.run with a list of arguments"),
    "pickle.load": (HIGH, "runs code that the data brings; use json"),
    "pickle.loads": (HIGH, "runs code that the data brings; use json"),
    "pickle.Unpickler": (HIGH, "runs code that the data brings; use json"),
    "dill.load": (HIGH, "runs code that the data brings; use json"),
    "dill.loads": (HIGH, "runs code that the data brings; use json"),
    "marshal.load": (HIGH, "reads code out of data; use json"),
    "marshal.loads": (HIGH, "reads code out of data; use json"),
    "shelve.open": (MEDIUM, "unpickles what the file holds; use json or the database"),
    "yaml.unsafe_load": (HIGH, "runs code that the data brings; use yaml.safe_load"),
    "yaml.full_load": (MEDIUM, "makes objects that the data names; use yaml.safe_load"),
    "ssl._create_unverified_context": (HIGH, "accepts every certificate; use ssl.create_default_context"),
    "__import__": (MEDIUM, "imports by a text; write an import statement"),
}
IMPORTS = {
    "ctypes": (MEDIUM, "reaches below Python; find a way without"),
    "marshal": (MEDIUM, "reads code out of data; use json"),
    "socket": (LOW, "opens connections of its own; is there no client for that?"),
}
DEBUGGING = ("breakpoint", "pdb.set_trace", "ipdb.set_trace", "pudb.set_trace", "pdb.post_mortem")
REACHED = ("os", "sys", "subprocess", "builtins", "importlib", "__builtins__")  # by getattr with a built name
COMMANDS = ("management/commands/", "manage.py", "cli.py", "__main__.py", "scripts/", "bin/")


def findings(case: Case) -> Iterator[Finding]:
    for file in case.files:
        if file.is_python and file.tree is None and file.after is not None:
            yield file.finding(next(iter(file.added), 0), HIGH, "syntax error", "this file cannot be parsed as Python")
    for file in case.code:
        assert file.tree
        yield from _calls(file, file.tree)
        yield from _imports(file, file.tree)


# --- calls ---------------------------------------------------------------------------------------------------


def _calls(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    for call in tree.calls:
        line = file.first_added(*span(call))
        if line is None:
            continue
        name = tree.dotted(call.func).removeprefix("builtins.")
        if found := CALLS.get(name) or _by_arguments(call, name, tree):
            yield file.finding(line, found[0], "dangerous call", f"{name or 'a call'} {found[1]}")
        elif name in DEBUGGING:
            yield file.finding(line, MEDIUM, "debugging", f"{name}() stops the program; remove it")
        elif name == "print" and not _prints_for_people(file, call):
            yield file.finding(line, LOW, "debugging", "print() in code that is no command; use logging or remove it")


def _by_arguments(call: ast.Call, name: str, tree: PythonTree) -> tuple[Severity, str] | None:
    """Calls that only some arguments make dangerous."""
    shell = keyword(call, "shell")
    if name.startswith("subprocess.") and shell is not None and not is_constant(shell, False):
        return HIGH, "starts a shell; use a list of arguments and shell=False"
    if is_constant(keyword(call, "verify"), False) and name.startswith(("requests.", "httpx.", "aiohttp.")):
        return HIGH, "accepts every certificate; leave verify as it is"
    if name in ("yaml.load", "yaml.load_all") and not _is_safe_loader(call, tree):
        return HIGH, "runs code that the data brings; use yaml.safe_load"
    if name == "importlib.import_module" and call.args and text_of(call.args[0]) is None:
        return MEDIUM, "imports what a value names; write an import statement, or choose from a fixed table"
    return _hidden_name(call, tree)


def _is_safe_loader(call: ast.Call, tree: PythonTree) -> bool:
    loader = keyword(call, "Loader") or (call.args[1] if len(call.args) > 1 else None)
    return loader is not None and tree.dotted(loader).rpartition(".")[2] in ("SafeLoader", "CSafeLoader", "BaseLoader")


def _hidden_name(call: ast.Call, tree: PythonTree) -> tuple[Severity, str] | None:
    if not (isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1):
        return None
    if tree.dotted(call.args[0]) in REACHED and text_of(call.args[1]) is None:
        return HIGH, "builds the name of what it calls; write the name"
    return None


def _prints_for_people(file: ChangedFile, call: ast.Call) -> bool:
    """Commands speak by printing."""
    if keyword(call, "file") is not None or any(word in file.path for word in COMMANDS):
        return True
    return "__main__" in (file.after or "")


def _imports(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    for node, name in tree.imports():
        line = file.first_added(*span(node))
        if line and (found := IMPORTS.get(name.split(".")[0])):
            yield file.finding(line, found[0], "surprising import", f"{name.split('.')[0]} {found[1]}")
