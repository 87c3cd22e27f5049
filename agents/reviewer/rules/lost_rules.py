"""What a change loses without a word: a defence that was called, an error that was told, a file that is never closed.

No test may ever notice these. What the base does in the same form is a remark, as ever.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile, PythonTree, keyword, target_names
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.repo.file_parts import Function, functions, span

MEDIUM = Severity.MEDIUM
DEFENCES = re.compile(  # last names of calls: who is asked, what is made harmless, what is drawn by lot, what is locked
    r"compare_digest|(?:conditional_|html_)?escape|quote(?:_plus|_name|_ident)?|strip_tags|sanitize\w*|secure_filename"
    r"|url_has_allowed_host_and_scheme|token_(?:bytes|hex|urlsafe)|urandom|pbkdf2_hmac|scrypt|safe_load|literal_eval"
    r"|normpath|realpath|resolve|is_relative_to|relative_to|basename|full_clean|is_valid|check_password|make_password"
    r"|(?:verify|validate|authenticate|authorize|require|ensure)(?:_\w+)?|has_perms?|has_permission"
    r"|select_for_update|atomic|Lock|RLock|Semaphore|acquire|fsync|quantize|wait_for"
)
BOUNDS = ("timeout", "httponly", "secure", "samesite", "max_length", "maxsize", "maxlen")
OPENS = {  # dotted name -> what is left open
    **dict.fromkeys(("open", "io.open", "os.fdopen", "gzip.open", "bz2.open", "lzma.open", "tarfile.open"), "a file"),
    **dict.fromkeys(("zipfile.ZipFile", "tempfile.TemporaryFile", "tempfile.NamedTemporaryFile"), "a file"),
    **dict.fromkeys(("socket.socket", "socket.create_connection", "urllib.request.urlopen"), "a connection"),
    **dict.fromkeys(("sqlite3.connect", "asyncio.open_connection"), "a connection"),
}
KEEPS = ("closing", "enter_context", "enter_async_context", "callback", "push", "append", "add", "put", "wrap_socket")
MUTATES = (
    "append",
    "extend",
    "insert",
    "add",
    "update",
    "setdefault",
    "pop",
    "popitem",
    "remove",
    "clear",
    "appendleft",
)
EXACT, ROUGH = {"FloorDiv", "Decimal", "Fraction", "divmod", "quantize"}, {"Div", "float"}
MAKES = ("dict", "list", "set", "defaultdict", "OrderedDict", "Counter", "deque")


def findings(case: Case) -> Iterator[Finding]:
    yield from of_lines(case)
    yield from _defences(case)
    yield from _digits(case)


def of_lines(case: Case) -> Iterator[Finding]:
    """Find what a line says, whatever was there before."""
    for file in case.code:
        assert file.tree
        yield from _left_open(file, file.tree)
        yield from _swallowed(file, file.tree)
        yield from _shared(file, file.tree)


# --- defences that are gone ----------------------------------------------------------------------------------


def _defences(case: Case) -> Iterator[Finding]:
    """A call that a function made, and that neither it nor anything else of the change makes now.

    Of a function that is gone nothing is said: who called it is another question.
    """
    before, after = Counter[str](), Counter[str]()
    for file in case.files:
        if not file.is_test:
            before += _guards(file.tree_before.module) if file.tree_before else Counter()
            after += _guards(file.tree.module) if file.tree else Counter()
    for file in case.code:
        assert file.tree
        old = dict(functions(file.tree_before.module)) if file.tree_before else {}
        for name, function in functions(file.tree.module):
            lost = _guards(old[name]).keys() - _guards(function).keys() if name in old else ()
            for one in sorted(lost):
                if before[one] > after[one]:
                    text = f"{name} no longer has {one}; put it back, or say why nothing needs it any more"
                    yield file.finding(_nearest(file, function), MEDIUM, "defence gone", text)


def _digits(case: Case) -> Iterator[Finding]:
    """Whole or decimal numbers that a function worked with, and that it turns into floats now."""
    for file in case.code:
        assert file.tree
        old = dict(functions(file.tree_before.module)) if file.tree_before else {}
        for name, function in functions(file.tree.module):
            before, after = (_reckons(old[name]), _reckons(function)) if name in old else (set(), set())
            if before & EXACT - after and after & ROUGH - before:
                text = f"{name} reckons with floats now, and did so exactly before; keep `//` or Decimal"
                yield file.finding(_nearest(file, function), MEDIUM, "digits lost", text)


def _reckons(function: Function) -> set[str]:
    found = {type(node.op).__name__ for node in ast.walk(function) if isinstance(node, ast.BinOp)}
    calls = (ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call))
    return found | {name.rpartition(".")[2] for name in calls}


def _guards(node: ast.AST) -> Counter[str]:
    """Calls of defences, and bounds that are given to calls."""
    found: Counter[str] = Counter()
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            name = one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")
            found.update([f"{name}()"] if DEFENCES.fullmatch(name) else [])
            found.update(f"{word}=" for word in BOUNDS if keyword(one, word))
        elif isinstance(one, ast.With | ast.AsyncWith):
            names = (ast.unparse(item.context_expr) for item in one.items)
            found.update("with a lock" for name in names if re.search(r"lock", name, re.IGNORECASE))
    return found


def _nearest(file: ChangedFile, function: Function) -> int:
    return file.first_added(*span(function)) or function.lineno


# --- left open -----------------------------------------------------------------------------------------------


def _left_open(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    """What a function opens and neither closes nor hands on."""
    for call in tree.calls:
        what = OPENS.get(tree.dotted(call.func)) or ("a file" if _opens_path(call) else "")
        line, function = file.first_added(*span(call)), tree.function_of(call)
        if what and line and function and not _is_cared_for(call, tree, function):
            yield file.finding(line, MEDIUM, "left open", f"{what} is opened and never closed; open it in a `with`")


def _opens_path(call: ast.Call) -> bool:
    """`path.open()`, also with a mode; with other arguments it may be anything."""
    first = call.args[0] if call.args else keyword(call, "mode")
    mode = first.value if isinstance(first, ast.Constant) else None
    is_file = re.fullmatch(r"[rwax]b?\+?t?", mode) is not None if isinstance(mode, str) else first is None
    return isinstance(call.func, ast.Attribute) and call.func.attr == "open" and is_file


def _is_cared_for(call: ast.Call, tree: PythonTree, function: Function) -> bool:
    """In a `with`, handed on (returned, given to a call, kept by an object), or closed under its name."""
    parent = next(tree.above(call), None)
    if isinstance(parent, ast.Await):
        parent = next(tree.above(parent), None)
    match parent:
        case ast.Call(func=function_called):
            return _keeps(function_called)
        case ast.withitem() | ast.Return() | ast.Yield() | ast.keyword() | ast.Lambda() | ast.Tuple():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.NamedExpr(target=ast.Name(id=name)):
            return _is_handed_on(name, function)
        case ast.Assign() | ast.AnnAssign() | ast.Dict() | ast.List():
            return True
    return False


def _is_handed_on(name: str, function: Function) -> bool:
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=found), attr="close" | "__exit__" | "detach") if found == name:
                return True
            case ast.withitem() | ast.Return() | ast.Yield() | ast.Assign() if _is(getattr(node, "value", None), name):
                return True
            case ast.withitem(context_expr=value) if _is(value, name):
                return True
            case ast.Call(func=called, args=args) if any(_is(one, name) for one in args) and _keeps(called):
                return True
    return False


def _keeps(called: ast.expr) -> bool:
    """Who is called sees to it: a class, whose object has it now, or what closes things later."""
    name = ast.unparse(called).rpartition(".")[2]
    return (name[:1].isupper() and not name.startswith("Dict")) or name in KEEPS


def _is(node: object, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


# --- swallowed -----------------------------------------------------------------------------------------------


def _swallowed(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    """A handler of everything that answers with a fixed value: whatever goes wrong looks like an answer."""
    for node in tree.nodes:
        if not isinstance(node, ast.ExceptHandler) or not (line := file.first_added(*span(node))):
            continue
        caught = tree.dotted(node.type) if node.type else "BaseException"
        if caught in ("BaseException", "Exception") and all(map(_is_fixed, node.body)):
            text = "whatever goes wrong here looks like an answer; name the error that is expected"
            yield file.finding(line, MEDIUM, "swallowed exception", text)


def _is_fixed(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Continue() | ast.Break():
            return True
        case ast.Return(value=value) | ast.Expr(value=value):
            parts = ast.walk(value) if value else ()
            return not any(isinstance(one, ast.Call | ast.Await | ast.JoinedStr | ast.Yield) for one in parts)
    return False


# --- shared between calls ------------------------------------------------------------------------------------


def _shared(file: ChangedFile, tree: PythonTree) -> Iterator[Finding]:
    """Something new that can be changed, on a module or class, and that functions change: all callers share it."""
    classes = [node for node in tree.nodes if isinstance(node, ast.ClassDef)]
    of_module = [(node, "") for node in tree.module.body]
    of_classes = [(node, owner.name) for owner in classes for node in owner.body if not _is_given(owner, _made(node))]
    for node, owner in (*of_module, *of_classes):
        name, line = _made(node), file.first_added(*span(node))
        names = {f"{one}.{name}" for one in ("self", "cls", owner)} if owner else {name}
        if name and line and any(tree.function_of(one) and _changes(one, names) for one in tree.nodes):
            text = f"{name} is shared by all callers, and functions change it; keep it where one caller has it"
            yield file.finding(line, MEDIUM, "shared state", text)


def _made(node: ast.stmt) -> str:
    """The name that is given something which can be changed; empty: none is."""
    names = target_names(node)
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    is_call = isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in MAKES
    return names[0] if names and (is_call or isinstance(value, ast.Dict | ast.List | ast.Set)) else ""


def _changes(node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in MUTATES:
            return _dotted(value) in names
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            return _dotted(value) in names
        case ast.AugAssign(target=target):
            return _dotted(target) in names
    return False


def _dotted(node: ast.expr) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def _is_given(owner: ast.ClassDef, name: str) -> bool:
    """Each object is given one of its own."""
    targets = (one for node in ast.walk(owner) for one in getattr(node, "targets", [getattr(node, "target", None)]))
    return any(isinstance(one, ast.Attribute) and _dotted(one) == f"self.{name}" for one in targets)
