"""Changes of a commit, the decision whether a task's commit may stand, and the paths whose change needs the owner.

The owner is asked about what builds, tests, deploys, configures, or speaks to agents and editors. A change there does
not stop a commit; it stops an automatic merge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.evidence import is_test_file
from sisimpur.shared.model.scope import Scope, is_plain_path, judge, matches, permits
from sisimpur.shared.model.text import UTF8, coding_of, python_lines

EXECUTABLE, LINK, SUBMODULE = "100755", "120000", "160000"
MARKERS = ("<<<<<<< ", ">>>>>>> ")  # what a failed edit or merge leaves behind


class HasPath(Protocol):
    """One file of a commit."""

    @property
    def path(self) -> str: ...


class CommitFiles(Protocol):
    """The target's files at a commit: the mirror."""

    def tree(self, sha: str) -> Sequence[HasPath]: ...
    def read(self, sha: str, path: str, limit: int = ...) -> bytes | None: ...


def paths_of(files: CommitFiles, sha: str) -> frozenset[str]:
    return frozenset(entry.path for entry in files.tree(sha))


@dataclass(frozen=True)
class Change:
    """One path of the difference between two commits. Modes are git's, empty where there is no file."""

    path: str
    kind: Literal["added", "modified", "deleted"]
    mode_old: str
    mode_new: str
    binary: bool = False  # holds a NUL byte, or is not UTF-8
    emptied: bool = False  # had content, has none
    added_lines: tuple[tuple[int, str], ...] = ()  # number in the new file, text
    also: tuple[str, ...] = ()  # paths by which the old tree's links lead to it

    def is_one_of(self, patterns: Iterable[str]) -> bool:
        """Whether one covers it, by whatever path it is reached."""
        return any(matches(name, patterns) for name in (self.path, *self.also))

    @property
    def becomes_executable(self) -> bool:
        return self.mode_new == EXECUTABLE != self.mode_old

    @property
    def is_link(self) -> bool:
        return self.mode_new == LINK


@dataclass(frozen=True)
class ChangeLimits:
    """Limits: how much of a folder is looked at, and how much one commit may change."""

    files: int = 100  # changed by one commit
    added_lines: int = 4_000
    added_bytes: int = 1_000_000
    changed_bytes: int = 20_000_000  # the whole content of the changed files
    entries: int = 100_000  # files and folders of a tree
    file_bytes: int = 50_000_000  # one file
    tree_bytes: int = 2_000_000_000  # all files
    depth: int = 60  # folders in folders
    seconds: float = 60.0  # for one walk


def refusal(changes: Sequence[Change], scope: Scope, limits: ChangeLimits, tracked: Iterable[str]) -> str | None:
    """Say why this commit may not stand, naming file and limit; None: it may. `tracked`: the paths of the base."""
    if len(changes) > limits.files:
        return f"{len(changes)} files changed (limit {limits.files})"
    if named := (*scope.files, *scope.new_files):
        marks = (change.path for change in changes if marks_tests(change, named))
        scope = replace(scope, new_files=(*scope.new_files, *marks))
    for change in changes:
        if reason := judge(change.path, change.kind == "added", scope) or _of_one(change, scope):
            return f"{change.path}: {reason}"
    return _too_much(changes, limits) or _collision(changes, tracked)


def marks_tests(change: Change, named: Sequence[str]) -> bool:
    """Say whether it is a new `__init__.py` without code beside tests that a task names: some runners need it."""
    lines = python_lines("\n".join(text for _, text in change.added_lines))
    is_read_so = all(coding_of(line) in UTF8 for line in lines)
    is_empty = not change.binary and is_read_so and all(not line.partition("#")[0].strip() for line in lines)
    return change.kind == "added" and is_empty and change.path in package_marks(named)


def package_marks(named: Iterable[str]) -> frozenset[str]:
    """Paths of the `__init__.py` beside these tests, and in the folders of tests above them."""

    tests = (path for path in named if is_test_file(path) and "/" in path)
    beside = {path.rpartition("/")[0] for path in tests}
    above = ("/".join(folder.split("/")[:size]) for folder in beside for size in range(1, folder.count("/") + 1))
    return frozenset(
        f"{folder}/__init__.py" for folder in (*beside, *above) if folder in beside or is_test_file(f"{folder}/x")
    )


def _of_one(change: Change, scope: Scope) -> str | None:
    """Say what no task may do to a file that it may otherwise touch."""
    guarded = next((name for name in change.also if matches(name, scope.guards)), "")
    reasons = {
        f"the owner guards {guarded}, which is a link to it": bool(guarded),
        "it is deleted, but the task does not name it": change.kind == "deleted" and change.path not in scope.files,
        "it is a symbolic link": change.is_link,
        "it became executable": change.becomes_executable,
        "it is binary or not UTF-8 text": change.binary,
        "it was emptied": change.emptied,
    }
    return next((reason for reason, holds in reasons.items() if holds), None) or _marker(change)


def _marker(change: Change) -> str | None:
    number = next((number for number, text in change.added_lines if text.startswith(MARKERS)), None)
    return f"line {number} is a conflict marker" if number else None


def _too_much(changes: Sequence[Change], limits: ChangeLimits) -> str | None:
    lines = sum(len(change.added_lines) for change in changes)
    size = sum(len(text.encode()) + 1 for change in changes for _, text in change.added_lines)
    if lines > limits.added_lines:
        return f"{lines} lines added (limit {limits.added_lines}), most of them in {_largest(changes)}"
    if size > limits.added_bytes:
        return f"{size} bytes added (limit {limits.added_bytes}), many of them in {_largest(changes)}"
    return None


def _largest(changes: Sequence[Change]) -> str:
    return max(changes, key=lambda change: sum(1 + len(text) for _, text in change.added_lines)).path


def _collision(changes: Sequence[Change], tracked: Iterable[str]) -> str | None:
    """Two spellings of one name: on macOS and Windows one file would hide the other."""
    added = [change.path for change in changes if change.kind == "added"]
    if not added:
        return None
    gone = {change.path for change in changes if change.kind == "deleted"}
    known: dict[str, str] = {}
    for path in (*(path for path in tracked if path not in gone), *added):
        for folder in _with_folders(path):
            other = known.setdefault(unicodedata.normalize("NFC", folder).casefold(), folder)
            if other != folder and path in added:
                return f"{path}: differs from {other} only in case or accents"
    return None


def _with_folders(path: str) -> Iterator[str]:
    """a, a/b, a/b/c"""
    end = path.find("/")
    while end > 0:
        yield path[:end]
        end = path.find("/", end + 1)
    yield path


# --- paths that need the owner --------------------------------------------------------------------------------

# Without a slash a pattern holds at any depth, and a folder covers what is in it.
CI = (
    *(".github", ".gitlab-ci*.y*ml", ".gitlab", ".circleci", "Jenkinsfile*", ".travis.yml", "azure-pipelines*.y*ml"),
    *("bitbucket-pipelines.yml", ".gitea", ".forgejo", ".buildkite", ".drone.y*ml", ".drone.star", ".woodpecker*"),
    *(".appveyor.yml", "appveyor.yml", ".cirrus.y*ml", ".semaphore", "cloudbuild*.y*ml", "buildspec*.y*ml"),
    *(".teamcity", ".builds", ".build.yml", "CODEOWNERS", ".pre-commit-config.y*ml", ".pre-commit-hooks.y*ml"),
    *(".husky", "lefthook*.y*ml", ".lefthook*.y*ml", ".githooks", ".lintstagedrc*"),
)
BOTS = (  # they open and merge pull requests by themselves
    *("renovate.json*", ".renovaterc*", "dependabot.y*ml", ".pyup.yml", ".mergify.yml", ".kodiak.toml"),
    "codecov.y*ml",
)
GIT = (".gitattributes", ".gitmodules", ".gitconfig", ".gitignore", ".lfsconfig")
AGENTS = (
    *(".aider*", "AGENTS.md", "AGENT.md", "CLAUDE*.md", ".claude", "GEMINI.md", ".gemini"),
    *(".geminiignore", ".mcp.json"),
    *(".cursor", ".cursorrules", ".cursorignore", ".windsurf*", ".clinerules*", ".cline", ".roo*", ".continue*"),
    *("copilot-instructions.md", ".copilot", "*.instructions.md", ".junie", ".kiro", ".amazonq"),
    *(".goosehints", ".codex"),
    *(".devin", ".trae", ".augment*", ".opencode*", "opencode.json*", "CONVENTIONS.md", ".rules", ".vscode", ".idea"),
    *(".zed", ".devcontainer*", ".envrc"),
)
SECRETS = (  # files that usually hold keys
    *(".env*", "*.env", ".netrc", ".pgpass", ".npmrc", ".pypirc", ".htpasswd", ".git-credentials", ".docker", ".ssh"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.ppk", "*.p12", "*.pfx", "*.jks", "*.asc"),
    *("*.keystore", "*.kdbx", "*.tfstate", "credentials*.json", "service-account*.json", "secrets.*"),
    *("*.sqlite3", "*.db"),
)
TEMPLATES = (".env.example", ".env.sample", ".env.template", ".env.dist")
TESTS = (
    *("conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml", "noxfile.py", ".coveragerc"),
    *("hatch_build.py", "ruff.toml", ".ruff.toml", ".flake8", "mypy.ini", ".mypy.ini", ".pylintrc*", "pylintrc"),
)
CHECKS = (  # what a check overlooks; some of them are our own evidence
    *(".shellcheckrc", "shellcheckrc", ".hadolint.y*ml", "zizmor.y*ml", ".zizmor.y*ml", "pyrightconfig.json"),
    *(
        ".secrets.baseline",
        ".gitleaks*",
        ".semgrep*",
        ".bandit*",
        "bandit.y*ml",
        ".snyk",
        ".trivyignore*",
        "trivy.y*ml",
    ),
    *(".isort.cfg", ".yamllint*", ".pydocstyle*", ".pycodestyle", "sonar-project.properties", ".eslintignore"),
    *("hatch.toml", "pants.toml"),
)
PYTHON_START = ("*.pth", "sitecustomize*", "usercustomize*", "*.dist-info/", "*.egg-info/")
RUNNERS = (  # what runs the tests, or would stand in its place
    *("manage.py", "pytest.toml", ".pytest.toml", ".pytest.ini", "tox.toml", "conftest/", "runtests.py"),
    *("gate_pytest.py", "gate_unittest.py", "gate_report.py", "gate_coverage.py"),
    *("/pytest.py", "/pytest/", "/_pytest/", "/pluggy/", "/unittest/", "/unittest.py", "/coverage.py", "/coverage/"),
)
DEPENDENCIES = (
    *("*requirements*.txt", "*requirements*.in", "requirements/", "*constraints*.txt"),
    *("MANIFEST.in", "environment*.y*ml"),
    *("*.lock", "*.lockb", "*-lock.*", "*.lock.*", "*lockfile*", "npm-shrinkwrap.json", "package.json", "Pipfile"),
    *("go.mod", "go.sum", "Cargo.toml", "Gemfile", "composer.json", "pip.conf", "pip.ini", "uv.toml", "pdm.toml"),
    *("poetry.toml", "pixi.toml", ".yarnrc*", ".pnpmfile.cjs", "pnpm-workspace.yaml", "bunfig.toml", ".python-version"),
    *(".tool-versions", "mise*.toml", ".mise*.toml"),
)
BUILD = (  # the owner runs these by hand, with his own rights
    *("Makefile", "GNUmakefile", "*.mk", "Dockerfile*", "*.Dockerfile", ".dockerignore", "Containerfile*"),
    *("*.Containerfile", ".containerignore", "compose*.y*ml", "docker-compose*", "docker-bake*"),
    *("justfile", ".justfile"),
    *("docs/**/conf.py", "doc/**/conf.py"),  # so is the documentation built
    *("*.just", "/tasks.py", "/tasks/__init__.py", "/fabfile.py", "/dodo.py", "Taskfile*.y*ml"),
    *("Rakefile", "Earthfile"),
    *("Tiltfile", "SConstruct", "flake.nix", "shell.nix", "default.nix", "docker-entrypoint*", "entrypoint.sh"),
    *("build.sh", "deploy*.sh", "release*.sh", "publish*.sh", "install*.sh", "setup.sh", "bootstrap.sh"),
    *("/build.py", "/deploy.py", "/release.py", "/publish.py", "bin/deploy*", "bin/release*", "/deploy/"),
    *("scripts/build*", "scripts/deploy*", "scripts/release*", "scripts/publish*", "script/deploy*", "script/release*"),
)
DATA = (  # what changes a database that is in use
    *("migrations/", "alembic.ini", "**/alembic/versions/", "**/db/migrate/", "schema.sql", "schema.prisma"),
)
SETTINGS = ("settings.py", "settings_*.py", "*_settings.py", "**/settings/**/*.py")  # Django's: they may switch all off
DEPLOY = (
    *("Procfile*", "fly*.toml", "render.y*ml", "vercel.json", "netlify.toml", "Caddyfile", "nginx*.conf", "*.service"),
    *("*.tf", "*.tfvars", "k8s/", "kubernetes/", "helm/", "app.y*ml", "app.json", "cron.yaml"),
    *("railway.toml", "railway.json", "nixpacks.toml"),
    *("wrangler.toml", "wrangler.json*", "firebase.json", "serverless.y*ml", "skaffold.yaml"),
    *(".ebextensions", ".platform", "captain-definition"),
    *("gunicorn.conf.py", "gunicorn_conf.py", "uwsgi.ini", "supervisord.conf", "runtime.txt", "crontab", "*.timer"),
    *("Aptfile", ".profile", ".profile.d/", ".buildpacks", "cdk.json", "samconfig.toml", "Pulumi*.y*ml", "Chart.yaml"),
    *("kustomization.y*ml", ".platform*", "azure.yaml", "supervisor.conf"),
    *("ansible.cfg", "playbook*.y*ml", "Vagrantfile", "dokku*", ".kamal", "pyinfra/"),
)
STARTS = (  # what a deploy starts, besides BUILD, RUNNERS and what its files name
    *("wsgi.py", "asgi.py", "run*.sh", "start*.sh", "serve*.sh", "entrypoint*.sh", "launch*.sh", "migrate*.sh"),
)
OTHERS = (  # build, tests and checks of languages that we do not run
    *("jest.config.*", "vitest.config.*", "vite.config.*", "karma.conf.*", "playwright.config.*", "cypress.config.*"),
    *(".mocharc*", "babel.config.*", ".babelrc*", "webpack.config.*", "rollup.config.*", "esbuild.config.*"),
    *("turbo.json", "nx.json", "lerna.json", "gulpfile.*", "Gruntfile.*", "tsconfig*.json", "deno.json*"),
    *(".eslintrc*", "eslint.config.*", "pom.xml", "build.gradle*", "settings.gradle*", "gradle.properties"),
    *("gradlew*", "mvnw*", "build.xml", "build.sbt", "build.rs", ".cargo/", "clippy.toml", ".golangci.y*ml"),
    *("magefile.go", "CMakeLists.txt", "meson.build", "configure*.ac"),
    *("phpunit.xml*", ".rspec", "mix.exs", "rebar.config", "stack.yaml", "*.cabal", "*.csproj", "*.fsproj", "*.sln"),
    *("Directory.Build.*", "Package.swift", "project.clj", "deps.edn", "Podfile", "fastlane/", "pubspec.yaml"),
    *(".yarn/", ".mvn/", "gradle/", "buildSrc/", "*.bzl", "BUILD.bazel", "MODULE.bazel", ".bazelrc", "binding.gyp"),
    *("next.config.*", "nuxt.config.*", "svelte.config.*", "astro.config.*", "vue.config.*", "postcss.config.*"),
    *("tailwind.config.*", "metro.config.*", "angular.json", "commitlint.config.*", "release.config.*", ".releaserc*"),
    *("wdio.conf.*", "ava.config.*", ".taprc", ".nycrc*", "prettier.config.*", "stylelint.config.*", "knexfile.*"),
)
FOREIGN = re.compile(  # code that we do not run: its tests are neither tests nor proof
    r"\.([cm]?[jt]sx?|vue|svelte|go|rs|java|kts?|scala|groovy|clj[cs]?|rb|php|cs|fs|vb|swift|mm?|c|cc|cpp|cxx|h|hpp"
    r"|exs?|erl|hs|ml|lua|dart|jl|r|pl|t|sh|bash|bats|ps1|feature|robot)",
    re.IGNORECASE,
)
FOREIGN_TESTS = (
    *("tests/", "test/", "*.Tests/", "testing/", "__tests__/", "__mocks__/", "spec/", "specs/", "e2e/", "cypress/"),
    *("*[._-]test.*", "*[._-]tests.*", "*[._-]spec.*", "*.cy.*", "test[_-]*", "*.bats"),
)
FOREIGN_CLASS = re.compile(r".*(Tests?|TestCase|Spec|IT)\.\w+")  # CartTest.java, and no contest.java
OWN = (  # this program as its own target: its rules, and what holds money, keys and boxes
    *("VISION.md", "/config/*.yaml", "/config/targets", "/agents/*/prompts", "/shared/money/", "/shared/sandbox/"),
    *("/shared/model/gate.py", "/shared/model/change.py", "/shared/model/scope.py", "/shared/config/settings*.py"),
    *(
        "/shared/repo/committer*.py",
        "/shared/system/outgoing.py",
        "/shared/system/process.py",
        "/shared/system/lock.py",
    ),
    *("/agents/reviewer/rules/", "/agents/qa/runner/", "/agents/qa/evidence_rule.py", "/agents/orchestrator/gates.py"),
    *("/agents/orchestrator/daemon.py", "/agents/orchestrator/board/merge_queue.py", "/agents/coder/engine/"),
    *(
        "/shared/secrets/",
        "/agents/devops/drivers/",
        "/cli/wiring/",
        "/web/api/",
        "/cli/commands/serving.py",
        "/cli/app.py",
    ),
)

NEEDS_OWNER: Mapping[str, tuple[str, ...]] = {  # what it is, in a word, and which paths
    "checks of others": (*CI, *BOTS),
    "git and agents": (*GIT, *AGENTS),
    "keys and data": SECRETS,
    "how tests run": (*TESTS, *CHECKS, *PYTHON_START, *RUNNERS),
    "dependencies": DEPENDENCIES,
    "build and deploy": (*BUILD, *DEPLOY, *STARTS),
    "database and settings": (*DATA, *SETTINGS),
    "other languages' tools": OTHERS,
    "this program's rules": OWN,
}
PROTECTED = tuple(pattern for patterns in NEEDS_OWNER.values() for pattern in patterns)
FOREIGN_KIND, OWNERS_LIST = "tests in other languages", "the owner's own list"


def why_owner(path: str, patterns: Iterable[str] = ()) -> str:
    """Which kind of path it is, if a change of its text needs the owner's approval; empty: it does not."""
    if matches(path, patterns):
        return OWNERS_LIST
    kind = next((kind for kind, listed in NEEDS_OWNER.items() if matches(path, listed)), "")
    return kind or (FOREIGN_KIND if is_foreign_test(path) else "")


def usually_holds_keys(path: str) -> bool:
    """A file that is never shown to a model, whoever asks for it. Templates without values are no such files."""
    return bool(matches(path, SECRETS)) and not permits(path, TEMPLATES)


def needs_owner(changes: Iterable[Change], patterns: Iterable[str] = ()) -> tuple[str, ...]:
    """The changed paths that need the owner's approval; `patterns`: the target's own list besides the built-in one."""
    listed = (*PROTECTED, *patterns)
    return tuple(change.path for change in changes if _is_unusual(change) or change.is_one_of(listed))


def _is_unusual(change: Change) -> bool:
    is_odd = change.is_link or change.becomes_executable or change.binary or not is_plain_path(change.path)
    return is_odd or is_foreign_test(change.path)


def is_foreign_test(path: str) -> bool:
    """Tests in a language that we do not run: nobody here sees whether they still test anything."""
    name = path.rpartition("/")[2]
    ending = name[name.rindex(".") :] if "." in name else ""
    return bool(FOREIGN.fullmatch(ending) and (matches(path, FOREIGN_TESTS) or FOREIGN_CLASS.fullmatch(name)))


def started(files: CommitFiles, base: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Those of these paths that a deploy starts: programs that its files name, and `main.py` of this program itself."""
    asked = [path for path in paths if _is_program(path) or path == "main.py"]
    if not asked:
        return ()
    tree = paths_of(files, base)
    own = ["main.py"] if "shared/sandbox/bubblewrap.py" in tree else []
    left, texts, found = {path for path in (*tree, *asked) if _is_program(path)}, _texts(files, base, tree), {*own}
    while named := {path for path in left if path.rpartition("/")[2] in texts}:
        left -= named
        found |= named
        texts = _texts(files, base, named & tree, ("*",))
    return tuple(path for path in asked if path in found)


def _is_program(path: str) -> bool:
    """A script of a shell, or what has no ending and is called like no LICENSE."""
    name = path.rpartition("/")[2]
    return name.endswith((".sh", ".bash")) or ("." not in name and not name.isupper())


def _texts(files: CommitFiles, base: str, paths: Iterable[str], of: Sequence[str] = (*BUILD, *DEPLOY, *CI)) -> str:
    """What these files hold, as far as it is text of a usual size."""
    held = []
    for path in sorted(path for path in paths if matches(path, of)):
        with suppress(Refused):
            held.append(files.read(base, path) or b"")
    return b"\n".join(held).decode("utf-8", "replace")
