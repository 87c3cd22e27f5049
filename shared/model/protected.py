"""Paths whose change needs the owner: what builds, tests, deploys, configures, or speaks to agents and editors.

A change there does not stop a commit; it stops an automatic merge.
"""

from __future__ import annotations

from collections.abc import Iterable

from shared.model.change import Change
from shared.model.scope import is_plain_path, matches

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
GIT = (".gitattributes", ".gitmodules", ".gitconfig", ".gitignore")
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
    "hatch_build.py",
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
    *("ansible.cfg", "playbook*.y*ml", "Vagrantfile", "dokku*", ".kamal", "pyinfra/"),
)
OWN = ("VISION.md", "/config/*.yaml", "/config/targets", "/agents/*/prompts")  # this program as its own target

PROTECTED = (
    *CI,
    *BOTS,
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
