"""Survey, and a run of the base's tests -> what the owner reads in `init` and `doctor`. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from sisimpur.agents.qa.survey.other_suites import suites_not_run
from sisimpur.agents.qa.survey.target_survey import TargetSurvey
from sisimpur.shared.model.evidence import SuiteRun
from sisimpur.shared.model.naming import is_windows_own
from sisimpur.shared.model.text import few, one_line

LAST = 6  # lines of the runner
LONGEST = 300  # characters of a line
MISSING = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'")
PLACE = re.compile(r"([\w./-]+\.py):(\d+): in |File \"/job/([^\"\n]+)\", line (\d+)")
AT_LEAST = re.compile(r"(?:>=|\^|~=?)\s*3\.(\d+)|^3\.(\d+)")
AT_MOST = re.compile(r"(<=|<|~|==)\s*3\.(\d+)")  # `~=3.9` has no end below 4
WANTED = re.compile(r"No matching distribution found for ([\w.-]+)(?:\[[^\]]*\])?==([\w.]+)")
UNBUILT = (  # newer and older words of pip
    re.compile(r"(?:╰─> (?!See )|Failed building wheel for |Failed to build )'?([A-Za-z][\w.-]*)"),
    re.compile(
        r"(?:Collecting ([\w.-]+)|(?:Processing|Obtaining) )(?:(?!Collecting |Processing |Obtaining ).)*status 'error'",
        re.DOTALL,
    ),
)
PACKAGES = {  # that are called otherwise than what is imported
    "yaml": "PyYAML",
    "PIL": "Pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "jwt": "PyJWT",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "sklearn": "scikit-learn",
    "attr": "attrs",
    "rest_framework": "djangorestframework",
    "MySQLdb": "mysqlclient",
    "Crypto": "pycryptodome",
}


def what_it_is(survey: TargetSurvey) -> Iterator[tuple[str, str]]:
    """Name and text of each fact."""
    folders = [part.folder for part in survey.parts if part.folder]
    yield "languages", ", ".join(survey.languages) or "none that we know"
    yield "files", str(len(survey.paths))
    yield "packages", survey.manager
    if folders:
        yield "parts", few(folders, LAST)
    if wants := next(filter(None, (part.manifests.python for part in survey.parts)), ""):
        yield "Python", one_line(wants, 40)
    if survey.settings:
        yield "settings", survey.settings


def what_is_not_run(survey: TargetSurvey) -> Iterator[str]:
    """What the team cannot do there, and what follows from it."""
    for suite in suites_not_run(survey):
        yield f"{suite}: only Python's tests are run; a change there is never merged without you"
    for name, path in survey.services().items():
        yield f"{name} ({path}): no service runs beside the tests; let `test:` leave out those that need it"
    if path := survey.conda():
        yield f"conda ({path}): is not installed from; write what pip installs as `setup:`"
    if any(path.endswith(".gitattributes") and "filter=lfs" in survey.read(path) for path in survey.paths):
        yield "Git LFS (.gitattributes): files are not fetched; tests see what points to them, no task changes them"


def left_alone(left: Mapping[str, str]) -> Iterator[str]:
    """What no box gets, and what follows. `left`: path -> why."""
    for path, reason in sorted(left.items())[:LAST]:
        yield f"{path} ({reason}): is left alone; tests run without it, no task changes it, and nothing is deployed"
    if len(left) > LAST:
        yield f"{len(left) - LAST} more paths are left alone"


def read_only(submodules: Iterable[str]) -> Iterator[str]:
    """What is there to be run, and not to be changed."""
    for path in submodules:
        yield f"{path} (a submodule): its files are there when tests run and when it is deployed; no task changes them"


def not_everywhere(paths: Iterable[str]) -> Iterator[str]:
    """Files whose names another system of the owner's team cannot hold, or holds as one file."""
    alike: dict[str, list[str]] = {}
    for path in paths:
        alike.setdefault(path.casefold(), []).append(path)
    twice = [few(same, LAST, " and ") for same in alike.values() if len(same) > 1]
    if twice:
        yield f"{few(twice, LAST, '; ')}: one file where capitals do not count (macOS, Windows)"
    if reserved := sorted(path for same in alike.values() for path in same if is_windows_own(path)):
        yield f"{few(reserved, LAST)}: Windows takes no such name"


def lacking_python(survey: TargetSurvey, minor: int) -> int:
    """Which Python 3.x is wanted, if 3.`minor` is too old or too new; 0: this one will do."""
    asked = [part.manifests.python for part in survey.parts]
    found = [AT_LEAST.search(one) for one in asked]
    least = max((int(one[1] or one[2]) for one in found if one), default=0)
    bounds = [int(one[2]) - (one[1] == "<") for words in asked for one in AT_MOST.finditer(words)]
    most = max(min(bounds, default=minor), least)
    return least if least > minor else most if most < minor else 0


def tested_python(survey: TargetSurvey, minor: int) -> int:
    """Which Python 3.x its own CI begins with, if 3.`minor` is older and no manifest says more; 0: this one will do."""
    known = any(part.manifests.python for part in survey.parts)
    oldest = max((part.manifests.tested_python for part in survey.parts), default=0)
    return oldest if oldest > minor and not known else 0


def counts(run: SuiteRun, command: str) -> str:
    """What a whole run said."""
    told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(Counter(run.outcomes.values()).items()))
    failing = f"; failing before any change: {few(sorted(run.of('failed')), 5)}" if run.of("failed") else ""
    return f"{len(run.outcomes)} ran in {run.seconds:.0f} s: {told} ({command}){failing}"


def why_not(run: SuiteRun, survey: TargetSurvey, setup: str, file: str) -> str:
    """Why the base cannot be measured: the cause and what to write first, then the runner's last lines."""
    lines = [line.rstrip()[:LONGEST] for line in run.output.splitlines() if line.strip()][-LAST:]
    said = "".join(f"\n  {line}" for line in lines)
    return f"the tests came to no end ({run.end}): {to_write(run, survey, setup, file)}{said}"


def what_mends(said: str, command: str, setting: str, file: str) -> str:
    """What to write where a set-up did not end well. `said`: all that it printed."""
    if (found := WANTED.search(said)) and (python := re.search(rf" {found[2]} Requires-Python >=(3\.\d+)", said)):
        return f'{found[1]} {found[2]} wants Python {python[1]}: write into {file}: python: "{python[1]}"'
    unbuilt = next(filter(None, (sign.search(said) for sign in UNBUILT)), None)
    if unbuilt is None:
        return f"mend `{setting}:` in {file}"
    if unbuilt[1] is None:  # a folder, no package of an index
        return f"the project itself cannot be built here: mend `{setting}:` in {file}"
    name, named = unbuilt[1], re.findall(r" -r (\S+)", command if command.startswith("pip ") else "")
    line = f"sed -i /^{name}/Id {' '.join(named)} && {command}"
    without = f"; or leave it out: write into {file}: setup: {line}" if named else ""
    return f"{name} cannot be built here: install what it needs on this machine, then try again{without}"


def _files_of(module: str) -> tuple[str, str]:
    """How the path of a module, or of a package, ends."""
    path = module.replace(".", "/")
    return f"/{path}.py", f"/{path}/__init__.py"


def to_write(run: SuiteRun, survey: TargetSurvey, setup: str, file: str) -> str:
    """`ModuleNotFoundError: freezegun (tests/test_one.py:1): add freezegun to `setup:``, with the whole line."""
    missing = MISSING.search(run.output)
    if missing is None:
        return f"mend `setup:` or `test:` in {file}"
    name = missing[1].partition(".")[0]
    before = [one for one in PLACE.finditer(run.output, 0, missing.start()) if "site-packages" not in one[0]]
    where = f" ({before[-1][1] or before[-1][3]}:{before[-1][2] or before[-1][4]})" if before else ""
    ends = _files_of(missing[1])  # whole: of `a.b` an `a` may be found that is not the one that was meant
    own = next((f"/{path}" for path in sorted(survey.paths, key=len) if f"/{path}".endswith(ends)), "")
    product = (f"/{path}" for path in survey.paths if not path.startswith(("tests/", "test/")))
    if not own and any(path.endswith(_files_of(name)) for path in product):
        mend = f"no file here is that module; if a command makes it, add that to `setup:` in {file}"
        return f"ModuleNotFoundError: {missing[1]}{where}: {mend}"
    if own:
        folder = own.removesuffix(ends[0]).removesuffix(ends[1]).lstrip("/") or "."
        if survey.roots:
            mend = "name its package among the requirements of the one that needs it"
            return f"ModuleNotFoundError: {missing[1]}{where}: it lies in {folder}; {mend}"
        line = f'test: "PYTHONPATH={folder} {survey.test()}"'
        return f"ModuleNotFoundError: {missing[1]}{where}: it lies in {folder}; write into {file}: {line}"
    package = PACKAGES.get(name, name)
    if survey.roots:
        mend = f"to the `setup:` of its package, below `roots:` in {file}"
        return f"ModuleNotFoundError: {missing[1]}{where}: add {package} {mend}"
    line = f'setup: "{" && ".join(filter(None, (setup, f"pip install {package}")))}"' if len(setup) < LONGEST else ""
    return f"ModuleNotFoundError: {missing[1]}{where}: add {package} to `setup:` in {file}{line and f': {line}'}"
