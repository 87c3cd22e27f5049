"""Paths whose change needs the owner."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sisimpur.shared.model.change import PROTECTED, Change, needs_owner, started, usually_holds_keys
from sisimpur.shared.model.scope import matches

HARMLESS = Change("src/a.py", "modified", "100644", "100644")


@pytest.mark.parametrize(
    "path",
    [
        *(".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "CODEOWNERS"),
        *("docs/CODEOWNERS", ".gitattributes", ".gitmodules", ".gitconfig"),
        *(".pre-commit-config.yaml", ".husky/pre-push"),
        *(".aider.conf.yml", ".aiderignore", ".env", ".env.production", "AGENTS.md", "CLAUDE.md", ".claude/x.json"),
        *(".cursor/rules", ".vscode/tasks.json", ".idea/x.xml", ".mcp.json", "conftest.py", "tests/deep/conftest.py"),
        *("pytest.ini", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml"),
        *("ruff.toml", "api/.ruff.toml", ".flake8", "mypy.ini", ".mypy.ini", "pylintrc", ".pylintrc.toml"),
        *("requirements.txt", "requirements-dev.txt"),
        *("poetry.lock", "uv.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "Cargo.lock", "bun.lockb"),
        *("gradle.lockfile", "web/package.json", "Makefile", "Dockerfile", "Dockerfile.dev", "compose.yaml"),
        *("docker-compose.yml", "x.pth", "lib/sitecustomize.py", "usercustomize.py", "VISION.md"),
        *("config/policy.yaml", "config/targets/x.yaml", "agents/coder/prompts/task.md"),
        *("shop/migrations/0002_price.py", "migrations/env.py", "alembic.ini", "app/alembic/versions/1a2b.py"),
        *("db/migrate/1_add.rb", "db/schema.sql", "prisma/schema.prisma"),
        *("settings.py", "app/settings.py", "app/settings_test.py", "local_settings.py", "app/settings/base.py"),
        *("app/settings/env/live.py", "Procfile", "fly.toml", "render.yaml", "vercel.json", "netlify.toml"),
        *("Caddyfile", "deploy/nginx.conf", "nginx-site.conf", "deploy/shop.service", "infra/main.tf"),
        *("k8s/web.yaml", "deploy/helm/values.yaml"),
        *(".GitHub/workflows/ci.yml", "CONFTEST.PY", "makefile"),
        *(".drone.yml", ".woodpecker.yml", ".woodpecker/test.yaml"),
        *("azure-pipelines-release.yml", ".gitlab-ci-lint.yml"),
        *("bitbucket-pipelines.yml", ".buildkite/pipeline.yml", "lefthook.yml"),
        *(".github/dependabot.yml", "buildspec.yml"),
        *("renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json", ".mergify.yml", "cloudbuild.yaml"),
        *("GEMINI.md", "docs/GEMINI.md", ".gemini/settings.json", ".cursorrules"),
        *(".windsurfrules", ".windsurf/rules/a.md"),
        *(".clinerules", ".clinerules/a.md", ".roomodes", ".github/copilot-instructions.md", "copilot-instructions.md"),
        *(".continue/config.json", ".junie/guidelines.md", ".goosehints", "AGENT.md", "CLAUDE.local.md", ".envrc"),
        *("CONVENTIONS.md", ".devcontainer/devcontainer.json"),
        *("Containerfile", "Containerfile.dev", "justfile", "Justfile", ".justfile", "tasks.py"),
        *("fabfile.py", "noxfile.py", "sub/noxfile.py", "docs/conf.py", "docs/source/conf.py", "doc/conf.py"),
        *("GNUmakefile", "Taskfile.yml", "docker-entrypoint.sh", "build.sh", "deploy.sh", "ops/release.sh", "setup.sh"),
        *("scripts/deploy_all", "scripts/release.py", "bin/deploy", "publish.py", "deploy/run.py", "flake.nix"),
        *("hatch_build.py", "pip.conf", "pip.ini", "uv.toml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".python-version"),
        *("app.yaml", "app.json", "railway.toml", "wrangler.toml", "gunicorn.conf.py", "runtime.txt", "Procfile.dev"),
        *(
            "site/wsgi.py",
            "asgi.py",
            "web/jest.config.js",
            "vitest.config.ts",
            "pom.xml",
            "core/build.rs",
            ".cargo/config",
        ),
        *(
            "web/tsconfig.build.json",
            "app/build.gradle.kts",
            "gradlew",
            "eslint.config.mjs",
            ".eslintrc.json",
            "App.csproj",
        ),
        *("shared/money/ledger.py", "shared/sandbox/bubblewrap.py", "shared/model/gate.py", "shared/repo/committer.py"),
        *("shared/system/outgoing.py", "agents/reviewer/rules/case.py", "agents/orchestrator/daemon.py"),
        *("run.sh", "ops/start-web.sh", "docker/entrypoint-worker.sh", "serve.sh", "bin/migrate.sh", "launch.sh"),
        *(".shellcheckrc", "ops/.shellcheckrc", ".hadolint.yaml", ".gitleaks.toml", ".gitleaksignore", ".semgrep.yml"),
        *(".secrets.baseline", ".bandit", ".trivyignore", "pyrightconfig.json", "hatch.toml", ".lfsconfig", ".snyk"),
        *(".yarn/releases/yarn-4.cjs", ".mvn/extensions.xml", "gradle/wrapper/gradle-wrapper.properties", "rules.bzl"),
        *("buildSrc/build.kt", "next.config.mjs", "web/postcss.config.js", "fastlane/Fastfile", "Podfile", ".nycrc"),
        *(
            "Aptfile",
            ".profile.d/start.sh",
            "cdk.json",
            "Pulumi.dev.yaml",
            "base/kustomization.yaml",
            "supervisor.conf",
        ),
        *("fly.staging.toml", "render.yml", "serverless.yml", "pnpm-workspace.yaml", ".ebextensions/a.config"),
    ],
)
def test_the_built_in_list_covers(path: str) -> None:
    assert matches(path, PROTECTED)


@pytest.mark.parametrize(
    "path",
    [
        *("src/clock.py", "src/block.py", "blocklist.txt", "composer.py", "src/locks.py", "env.py", "environment.py"),
        *("settings/page.tsx", "docs/settings.md", "mysettings.py", "migrations.py", "src/user.service.ts"),
        *("src/alembic/helpers.py", "versions/a.py", "nginx.md", "queries/top.sql", "src/helm.py"),
        *("shop/tasks.py", "tests/tasks.py", "src/app.py", "build_report.py", "src/deployment.py", "docs/deploy.md"),
        *("justfile.md", "shop/release_notes.py", "apps.json", "gemini.py", "cursor.py", "src/rules.py", "timer.py"),
        *("shop/publish.py", "shop/deploy.py", "scripts/import_books.py", "renovate.py", "src/wrangler.py"),
        *("shop/conventions.py", "setup.md", "shop/conf.py", "docs/examples/pay.py"),
        *("src/github.py", "tests/test_a.py", "docs/config/a.yaml", "README.md", "packages.json", "makefile.py"),
    ],
)
def test_ordinary_files_need_no_owner(path: str) -> None:
    assert matches(path, PROTECTED) is None


@pytest.mark.parametrize(
    "path",
    [
        *("tests/cart.test.js", "web/cart.test.tsx", "web/cart.spec.ts", "web/__tests__/cart.js", "e2e/shop.mjs"),
        *("pkg/cart_test.go", "core/tests/cart.rs", "src/test/java/shop/CartTest.java", "shop/CartTests.kt"),
        *("spec/cart_spec.rb", "tests/CartTest.php", "test/cart_test.exs", "Shop.Tests/CartTests.cs", "tests/run.bats"),
        *("tests/test_cart.c", "tests/check.sh", "cypress/cart.cy.js", "test/cart.dart", "CartSpec.scala"),
        *("tests/Cart.test.JS", "tests/lib.pl", "tests/shop.lua"),
    ],
)
def test_tests_that_are_not_run_here_are_the_owners(path: str) -> None:
    """They are neither tests nor proof, and nobody sees what a change of theirs does to the owner's own checks."""
    assert needs_owner([Change(path, "modified", "100644", "100644")]) == (path,)


@pytest.mark.parametrize(
    "path", ["tests/test_cart.py", "tests/cart.json", "tests/pages/cart.html", "web/cart.js", "src/contest.rs", "a.go"]
)
def test_other_files_are_not_taken_for_such_tests(path: str) -> None:
    assert needs_owner([Change(path, "modified", "100644", "100644")]) == ()


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        pytest.param(HARMLESS, False, id="an ordinary edit"),
        pytest.param(Change("conftest.py", "deleted", "100644", ""), True, id="a protected file is deleted"),
        pytest.param(Change("src/a.py", "added", "", "120000"), True, id="a new link"),
        pytest.param(Change("src/a.py", "modified", "100644", "100755"), True, id="a file becomes executable"),
        pytest.param(Change("src/a.py", "modified", "100755", "100755"), False, id="a file stays executable"),
        pytest.param(Change("src/a.bin", "added", "", "100644", binary=True), True, id="binary"),
        pytest.param(Change("src/a\u202eb", "added", "", "100644"), True, id="a name that is not what it seems"),
    ],
)
def test_what_needs_the_owner(change: Change, asked: bool) -> None:
    assert needs_owner([HARMLESS, change]) == ((change.path,) if asked else ())


class Repository:
    """A commit's files, as the mirror has them."""

    def __init__(self, **files: str) -> None:
        self._files = files

    def tree(self, _: str) -> Sequence[Change]:
        return [Change(path, "added", "", "100644") for path in self._files]

    def read(self, _: str, path: str, limit: int = 0) -> bytes | None:
        return self._files[path].encode()


def test_a_script_that_a_deploy_starts_is_the_owners_whatever_it_is_called() -> None:
    files = {
        "Dockerfile": 'CMD ["/app/ops/web.sh"]',
        "ops/web.sh": ". ./env.sh",
        "env.sh": "",
        "tidy.sh": "",
        "main.py": "",
    }
    changed = ["env.sh", "ops/web.sh", "tidy.sh", "main.py", "app.py", "bin/tend", "LICENSE"]
    files |= {"bin/tend": "", "LICENSE": "", "env.sh": "exec bin/tend LICENSE"}
    assert started(Repository(**files), "c", changed) == ("env.sh", "ops/web.sh", "bin/tend")
    assert started(Repository(**files, **{"shared/sandbox/bubblewrap.py": ""}), "c", ["main.py"]) == ("main.py",)


def test_the_targets_own_patterns_come_on_top() -> None:
    assert needs_owner([HARMLESS], ["src/**"]) == ("src/a.py",)


@pytest.mark.parametrize(
    ("path", "holds"),
    [
        (".env", True),
        ("deploy/.env.production", True),
        ("certs/site.pem", True),
        ("home/.ssh/id_ed25519", True),
        (".env.example", False),
        ("app/settings.py", False),
        ("environment.py", False),
    ],
)
def test_which_files_are_never_shown_to_a_model(path: str, holds: bool) -> None:
    assert usually_holds_keys(path) is holds
