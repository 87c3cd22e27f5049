"""Paths whose change needs the owner: what builds, tests, deploys, configures, or speaks to agents and editors.

A change there does not stop a commit; it stops an automatic merge.
"""

from __future__ import annotations

from collections.abc import Iterable

from shared.domain.change import Change
from shared.domain.scope import is_plain_path, matches

# Without a slash a pattern holds at any depth, and a folder covers what is in it.
CI = (
    *(
        ".github",
        ".gitlab-ci.yml",
        ".circleci",
        "Jenkinsfile",
        ".travis.yml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
    ),
    *(".gitea", ".forgejo", ".buildkite", "CODEOWNERS", ".pre-commit-config.yaml", ".husky"),
)
GIT = (".gitattributes", ".gitmodules", ".gitconfig", ".gitignore")
AGENTS = (".aider*", "AGENTS.md", "CLAUDE.md", ".claude", ".cursor", ".mcp.json", ".vscode", ".idea")
SECRETS = (  # files that usually hold keys
    *(".env*", "*.env", ".netrc", ".pgpass", ".npmrc", ".pypirc", ".htpasswd", ".git-credentials", ".docker", ".ssh"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.ppk", "*.p12", "*.pfx", "*.jks", "*.asc"),
    *("*.keystore", "*.kdbx", "*.tfstate", "credentials*.json", "service-account*.json", "secrets.*"),
    *("*.sqlite3", "*.db"),
)
TEMPLATES = (".env.example", ".env.sample", ".env.template", ".env.dist")
TESTS = ("conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml", "noxfile.py", ".coveragerc")
PYTHON_START = ("*.pth", "sitecustomize*", "usercustomize*", "*.dist-info/", "*.egg-info/")
RUNNERS = (  # what runs the tests, or would stand in its place
    *("manage.py", "pytest.toml", ".pytest.toml", ".pytest.ini", "tox.toml", "conftest/", "runtests.py"),
    *("gate_pytest.py", "gate_unittest.py", "gate_report.py", "gate_coverage.py"),
    *("/pytest.py", "/pytest/", "/_pytest/", "/pluggy/", "/unittest/", "/unittest.py", "/coverage.py", "/coverage/"),
)
DEPENDENCIES = (
    "*requirements*.txt",
    "*requirements*.in",
    "requirements/",
    "*constraints*.txt",
    "MANIFEST.in",
    "environment*.y*ml",
    "*.lock",
    "*.lockb",
    "*-lock.*",
    "*.lock.*",
    "*lockfile*",
    "npm-shrinkwrap.json",
    "package.json",
    "Pipfile",
    "go.mod",
    "go.sum",
    "Cargo.toml",
    "Gemfile",
    "composer.json",
)
BUILD = ("Makefile", "*.mk", "Dockerfile*", "*.Dockerfile", ".dockerignore", "compose*.y*ml", "docker-compose*")
DATA = (  # what changes a database that is in use
    *("migrations/", "alembic.ini", "**/alembic/versions/", "**/db/migrate/", "schema.sql", "schema.prisma"),
)
SETTINGS = ("settings.py", "settings_*.py", "*_settings.py", "**/settings/**/*.py")  # Django's: they may switch all off
DEPLOY = (
    *("Procfile", "fly.toml", "render.yaml", "vercel.json", "netlify.toml", "Caddyfile", "nginx*.conf", "*.service"),
    *("*.tf", "k8s/", "helm/"),
)
OWN = ("VISION.md", "/config/*.yaml", "/config/targets", "/agents/*/prompts")  # this program as its own target

PROTECTED = (
    *CI,
    *GIT,
    *AGENTS,
    *SECRETS,
    *TESTS,
    *PYTHON_START,
    *RUNNERS,
    *DEPENDENCIES,
    *BUILD,
    *DATA,
    *SETTINGS,
    *DEPLOY,
    *OWN,
)


def usually_holds_keys(path: str) -> bool:
    """A file that is never shown to a model, whoever asks for it. Templates without values are no such files."""
    return bool(matches(path, SECRETS)) and not matches(path, TEMPLATES)


def needs_owner(changes: Iterable[Change], patterns: Iterable[str] = ()) -> tuple[str, ...]:
    """The changed paths that need the owner's approval; `patterns`: the target's own list besides the built-in one."""
    listed = (*PROTECTED, *patterns)
    return tuple(change.path for change in changes if _is_unusual(change) or matches(change.path, listed))


def _is_unusual(change: Change) -> bool:
    return change.is_link or change.becomes_executable or change.binary or not is_plain_path(change.path)
