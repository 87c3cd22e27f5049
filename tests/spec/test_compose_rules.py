"""What a compose file may say, and what is run of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sisimpur.agents.devops.compose import compose_service
from sisimpur.agents.devops.compose.compose_parts import BUILD_OURS, BUILD_REFUSED, ComposeSite
from sisimpur.agents.devops.compose.compose_rules import TOP, Composed, Forbidden, checked, env_files
from sisimpur.agents.devops.compose.compose_values import MOST_TOLD, Problems, filled, substituted
from sisimpur.shared.system import strict_yaml

COMMIT = "c0ffee" + "0" * 34
OURS = {"sisimpur.home": "0123456789ab", "sisimpur.place": "staging"}
SITE = ComposeSite(
    place="staging",
    commit=COMMIT,
    name="sisimpur-0123456789ab-staging",
    labels=OURS,
    image_labels={"sisimpur.commit": COMMIT},
    commit_label="sisimpur.commit",
    folder="/releases/one",
    port=8_101,
    env={"SECRET": "a$b", "TAG": "7"},
)


def read(text: str, site: ComposeSite = SITE) -> Composed | Forbidden:
    return checked(strict_yaml.parse(text, "docker-compose.yml").value, site)


def composed(text: str, site: ComposeSite = SITE) -> Composed:
    found = read(text, site)
    assert isinstance(found, Composed), found
    return found


def web(text: str, site: ComposeSite = SITE) -> dict[str, Any]:
    """The service `web`, of which the text says something more, as it is written."""
    lines = "\n".join(f"    {line}" for line in text.strip("\n").splitlines())
    return dict(composed(f"services:\n  web:\n    image: python:3\n{lines}", site).document["services"]["web"])


def problems(text: str, site: ComposeSite = SITE) -> tuple[str, ...]:
    found = read(text, site)
    assert isinstance(found, Forbidden), found
    return found.problems


# --- what is refused -----------------------------------------------------------------------------------------

OF_A_SERVICE = [
    ("privileged: true", "privileged"),
    ("cap_add: [SYS_ADMIN]", "cap_add"),
    ("cap_add: [ALL]", "cap_add"),
    ("devices: [/dev/kvm]", "devices"),
    ("device_cgroup_rules: ['a *:* rwm']", "device_cgroup_rules"),
    ("gpus: all", "gpus"),
    ("network_mode: host", "network_mode"),
    ("network_mode: service:web", "network_mode"),
    ("network_mode: container:other", "network_mode"),
    ("pid: host", "pid"),
    ("ipc: host", "ipc"),
    ("uts: host", "uts"),
    ("userns_mode: host", "userns_mode"),
    ("cgroup: host", "cgroup"),
    ("cgroup_parent: /", "cgroup_parent"),
    ("security_opt: [seccomp:unconfined]", "security_opt"),
    ("security_opt: [no-new-privileges:false]", "security_opt"),
    ("security_opt: [no-new-privileges, apparmor:unconfined]", "security_opt"),
    ("sysctls: {net.core.somaxconn: 1}", "sysctls"),
    ("runtime: sysbox", "runtime"),
    ("extends: {file: other.yml, service: web}", "extends"),
    ("external_links: [somebody]", "external_links"),
    ("secrets: [key]", "secrets"),
    ("configs: [http]", "configs"),
    ("credential_spec: {file: x}", "credential_spec"),
    ("oom_kill_disable: true", "oom_kill_disable"),
    ("oom_score_adj: -1000", "oom_score_adj"),
    ("group_add: [docker]", "group_add"),
    ("volumes_from: ['container:other']", "volumes_from"),
    ("extra_hosts: ['host.docker.internal:host-gateway']", "extra_hosts"),
    ("dns: 10.0.0.1", "dns"),
    ("mac_address: 02:42:ac:11:65:43", "mac_address"),
    ("ulimits: {memlock: -1}", "ulimits"),
    ("storage_opt: {size: 1G}", "storage_opt"),
    ("use_api_socket: true", "use_api_socket"),
    ("provider: {type: awesomecloud}", "provider"),
    ("post_start: [{command: id, privileged: true}]", "post_start"),
    ("scale: 3", "scale"),
    ("deploy: {replicas: 2}", "deploy.replicas"),
    ("deploy: {mode: global}", "deploy.mode"),
    ("deploy: {placement: {constraints: [x]}}", "deploy.placement"),
    (
        "deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}",
        "deploy.resources.reservations.devices",
    ),
    ("links: [elsewhere]", "links"),
    ("depends_on: [elsewhere]", "depends_on"),
    ("depends_on: {web: {condition: whenever}}", "depends_on.web.condition"),
    ("networks: [elsewhere]", "networks.elsewhere"),
    ("networks: {default: {ipv4_address: 172.16.0.2}}", "networks.default.ipv4_address"),
    ("tmpfs: tmp", "tmpfs"),
    ("user: 'root; id'", "user"),
    ("restart: sometimes", "restart"),
    ("stop_signal: -9", "stop_signal"),
    ("healthcheck: {interval: soon}", "healthcheck.interval"),
    ("healthcheck: {elsewhere: x}", "healthcheck.elsewhere"),
    ("environment: {'A B': x}", "environment"),
    ("environment: x", "environment"),
    ("read_only: maybe", "read_only"),
    ("command: {a: b}", "command"),
    ("hostname: a b", "hostname"),
    ("anything: else", "anything"),
    # mounts
    ("volumes: [/:/host]", "volumes[0]"),
    ("volumes: [/etc/passwd:/x]", "volumes[0]"),
    ("volumes: ['~/.ssh:/x']", "volumes[0]"),
    ("volumes: [../other:/x]", "volumes[0]"),
    ("volumes: [./a/../../other:/x]", "volumes[0]"),
    ("volumes: ['a/../../b:/x']", "volumes[0]"),
    ("volumes: ['..:/x']", "volumes[0]"),
    (r"volumes: ['C:\x:/x']", "volumes[0]"),
    ("volumes: [/var/run/docker.sock:/var/run/docker.sock]", "volumes[0]"),
    ("volumes: [./docker.sock:/var/run/docker.sock]", "volumes[0]"),
    ("volumes: [./a:/x:shared]", "volumes[0]"),
    ("volumes: [./a:/x:ro:rshared]", "volumes[0]"),
    ("volumes: [./a:b]", "volumes[0]"),
    ("volumes: [/data]", "volumes[0]"),
    ("volumes: [undeclared:/x]", "volumes[0]"),
    ("volumes: {a: b}", "volumes"),
    ("volumes: [{type: bind, source: /, target: /x}]", "volumes[0]"),
    ("volumes: [{type: bind, source: ../x, target: /x}]", "volumes[0]"),
    ("volumes: [{type: bind, source: '${SECRET:+/etc}', target: /x}]", "volumes[0]"),
    ("volumes: ['${NOT_THERE:-/etc}:/x']", "volumes[0]"),
    ("volumes: [{type: bind, source: ., target: /x, bind: {propagation: shared}}]", "volumes[0]"),
    ("volumes: [{type: npipe, source: x, target: /x}]", "volumes[0]"),
    ("volumes: [{type: image, source: x, target: /x}]", "volumes[0]"),
    ("volumes: [{type: volume, target: /x}]", "volumes[0]"),
    ("volumes: [{type: volume, source: other, target: /x}]", "volumes[0]"),
    ("volumes: [{type: tmpfs, target: x}]", "volumes[0]"),
    # env files
    ("env_file: /etc/environment", "env_file"),
    ("env_file: ../.env", "env_file"),
    ("env_file: ~/.env", "env_file"),
    ("env_file: .env", "env_file"),
    ("env_file: [{path: .env, required: false, elsewhere: x}]", "env_file.elsewhere"),
    # builds
    ("build: /", "build.context"),
    ("build: ..", "build.context"),
    ("build: https://example.org/x.git", "build.context"),
    ("build: git@example.org:x.git", "build.context"),
    ("build: {context: 'ssh://git@example.org/x'}", "build.context"),
    ("build: {dockerfile: /etc/passwd}", "build.dockerfile"),
    ("build: {dockerfile: ../Dockerfile}", "build.dockerfile"),
    ("build: {context: a, dockerfile: ../../Dockerfile}", "build.dockerfile"),
    ("build: {dockerfile_inline: FROM x}", "build.dockerfile_inline"),
    ("build: {additional_contexts: {x: /}}", "build.additional_contexts"),
    ("build: {ssh: [default]}", "build.ssh"),
    ("build: {secrets: [key]}", "build.secrets"),
    ("build: {network: host}", "build.network"),
    ("build: {privileged: true}", "build.privileged"),
    ("build: {entitlements: [security.insecure]}", "build.entitlements"),
    ("build: {cache_from: [x]}", "build.cache_from"),
    ("build: {cache_to: [x]}", "build.cache_to"),
    ("build: {tags: ['python:3']}", "build.tags"),
    ("build: {extra_hosts: ['a:1.2.3.4']}", "build.extra_hosts"),
    ("build: {isolation: x}", "build.isolation"),
    ("build: {target: 'a b'}", "build.target"),
]


@pytest.mark.parametrize(("said", "key"), OF_A_SERVICE, ids=lambda value: value[:50])
def test_a_service_may_not(said: str, key: str) -> None:
    found = problems(f"services:\n  web:\n    image: python:3\n    {said}")
    assert [line.partition(": ")[0] for line in found] == [f"services.web.{key}"]
    assert len(found[0].partition(": ")[2]) > 10  # says what to do


ELSEWHERE = [
    ("volumes: {data: {external: true}}", "volumes.data.external"),
    ("volumes: {data: {external: {name: other}}}", "volumes.data.external"),
    ("volumes: {data: {driver_opts: {type: none, o: bind, device: /}}}", "volumes.data.driver_opts"),
    ("volumes: {data: {driver: sshfs}}", "volumes.data.driver"),
    ("volumes: {data: x}", "volumes.data"),
    ("volumes: {'a b': {}}", "volumes.a b"),
    ("volumes: [data]", "volumes"),
    ("networks: {net: {external: true}}", "networks.net.external"),
    ("networks: {net: {driver: host}}", "networks.net.driver"),
    ("networks: {net: {driver_opts: {parent: eth0}}}", "networks.net.driver_opts"),
    ("networks: {net: {ipam: {config: [{subnet: 10.0.0.0/8}]}}}", "networks.net.ipam"),
    ("networks: {net: {internal: maybe}}", "networks.net.internal"),
    ("networks: {default: {driver: host}}", "networks.default.driver"),
    ("secrets: {key: {file: /etc/shadow}}", "secrets"),
    ("configs: {key: {file: /etc/shadow}}", "configs"),
    ("include: [other.yml]", "include"),
    ("models: {x: {}}", "models"),
]


@pytest.mark.parametrize(("said", "key"), ELSEWHERE, ids=lambda value: value[:50])
def test_nor_may_the_file(said: str, key: str) -> None:
    found = problems(f"services: {{web: {{image: 'python:3'}}}}\n{said}")
    assert [line.partition(": ")[0] for line in found] == [key]


@pytest.mark.parametrize("text", ["", "[]", "x", "services:", "services: []", "services: {web: }", "version: '3'"])
def test_what_names_no_service_is_refused(text: str) -> None:
    assert problems(text)


def test_all_is_told_at_once_and_each_in_its_place() -> None:
    text = """
    services:
      web: {image: x, privileged: true, pid: host}
      db: {image: y, volumes: ["/:/host"]}
    include: [z]
    """
    told = [line.partition(": ")[0] for line in problems(text)]
    assert sorted(told) == ["include", "services.db.volumes[0]", "services.web.pid", "services.web.privileged"]


def test_an_image_has_a_name() -> None:
    assert "services.web.image" in problems("services: {web: {image: Not An Image}}")[0]
    assert "build" in problems("services: {web: {command: x}}")[0]


def test_of_very_many_only_some_are_told() -> None:
    keys = ", ".join(f"key{number}: x" for number in range(500))
    assert len(problems(f"services: {{web: {{image: x, {keys}}}}}")) == MOST_TOLD + 1


def test_a_name_that_is_told_holds_no_tricks() -> None:
    (line,) = problems('services: {web: {image: x, "a\\u202e\\e[31m' + "b" * 500 + '": y}}')
    assert line.isprintable()
    assert len(line) < 250


def test_the_service_that_answers_must_be_there() -> None:
    assert "deploy.service" in problems("services: {app: {image: x}}")[0]


# --- what asks for nothing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "privileged: false",
        "cap_add: []",
        "devices:",
        "sysctls: {}",
        "pid: ''",
        "security_opt: [no-new-privileges:true]",
    ],
)
def test_what_asks_for_nothing_is_no_reason_to_refuse(said: str) -> None:
    assert said.partition(":")[0] not in web(said) or "security_opt" in said


@pytest.mark.parametrize(
    "said",
    [
        "ports: ['80:80', '0.0.0.0:443:443']",
        "container_name: web",
        "labels: {sisimpur.commit: other, traefik.enable: 'true', ofelia.job-local.x.command: id}",
        "logging: {driver: syslog, options: {syslog-address: 'tcp://10.0.0.1:1'}}",
        "restart: 'no'",
        "mem_limit: 64g",
        "cpus: 64",
        "deploy: {resources: {limits: {cpus: '8', memory: 8G}}, restart_policy: {condition: none}, replicas: 1}",
        "x-anything: {privileged: true}",
        "platform: linux/amd64",
        "expose: [80]",
        "pull_policy: always",
        "stop_grace_period: 1h",
    ],
    ids=lambda value: value[:40],
)
def test_what_is_ours_to_say_is_not_taken_over(said: str) -> None:
    plain, found = web(""), web(said)
    assert {**found, "networks": 0} == {**plain, "networks": 0}


def test_a_service_is_what_we_make_of_it() -> None:
    assert web("", replace(SITE, env={}, memory=64, cpus=0.5)) == {
        "image": "python:3",
        "restart": "unless-stopped",
        "networks": {"default": {}},
        "labels": {**OURS, "sisimpur.commit": COMMIT},
        "logging": {"driver": "json-file", "options": {"max-size": "10m", "max-file": "3"}},
        "mem_limit": "64m",
        "memswap_limit": "64m",
        "cpus": 0.5,
        "pids_limit": 512,
        "security_opt": ["no-new-privileges:true"],
        "cap_drop": ["ALL"],
        "init": True,
        "ports": ["127.0.0.1:8101:8000"],
    }


def test_it_has_the_capabilities_that_its_file_names_and_no_others() -> None:
    assert web("cap_drop: [KILL]")["cap_drop"] == ["ALL"]
    assert web("cap_add: [CHOWN, SETUID]")["cap_add"] == ["CHOWN", "SETUID"]
    assert "cap_add" not in web("")
    for grave in ("ALL", "SYS_ADMIN", "NET_RAW", "NET_ADMIN", "MKNOD", "SYS_PTRACE", "CHOWN\n", "chown"):
        assert "services.web.cap_add" in problems(f"services: {{web: {{image: x, cap_add: [{json.dumps(grave)}]}}}}")[0]


def test_others_may_still_call_it_by_the_name_of_its_container() -> None:
    assert web("container_name: my-web")["networks"] == {"default": {"aliases": ["my-web"]}}


def test_its_own_command_stands() -> None:
    found = web(
        "command: python manage.py runserver\nentrypoint: [sh, -c]\nuser: 1000:1000\nread_only: true\ntmpfs: /tmp"
    )
    assert found["command"] == "python manage.py runserver"
    assert found["entrypoint"] == ["sh", "-c"]
    assert (found["user"], found["read_only"], found["tmpfs"]) == ("1000:1000", True, ["/tmp"])


def test_only_the_service_that_answers_can_be_reached_and_only_from_this_machine() -> None:
    document = composed("services: {web: {image: x}, db: {image: y, ports: ['5432:5432']}}").document["services"]
    assert document["web"]["ports"] == ["127.0.0.1:8101:8000"]
    assert "ports" not in document["db"]


def marked(found: Composed) -> list[str]:
    """The services that carry the commit's label; the others run on while their words stay the same."""
    return [name for name, one in found.document["services"].items() if SITE.commit_label in one["labels"]]


def test_a_database_is_not_started_anew_for_a_commit_that_says_the_same_of_it() -> None:
    text = "services: {web: {build: .}, db: {image: y, volumes: ['data:/d']}}\nvolumes: {data: }"
    one, two = composed(text), composed(text, replace(SITE, commit="d" * 40, folder="/releases/two"))
    assert one.document["services"]["db"] == two.document["services"]["db"]
    assert one.document["volumes"] == two.document["volumes"]
    assert marked(one) == ["web"]


def test_a_job_may_end_and_what_answers_may_not() -> None:
    text = "services: {web: {build: ., restart: 'no'}, migrate: {image: x}, worker: {image: x, restart: always}}"
    found = composed(text)
    assert {name: one["restart"] for name, one in found.document["services"].items()} == {
        "web": "unless-stopped",
        "migrate": "no",
        "worker": "unless-stopped",
    }


def test_what_has_a_profile_is_not_run() -> None:
    text = "services: {web: {image: x}, debug: {image: y, profiles: [debug], privileged: true}}"
    assert list(composed(text).document["services"]) == ["web"]


def test_images_carry_the_commit_and_are_shared_by_their_name_in_the_file() -> None:
    text = "services: {web: {build: ./app, image: 'our/app:${TAG}'}, worker: {image: 'our/app:7'}, db: {image: pg}}"
    found = composed(text)
    ours = "sisimpur-0123456789ab-staging-web:c0ffee000000"
    assert found.built == {"web": ours}
    assert found.pulled == {"db": "pg"}
    assert marked(found) == ["web", "worker"]
    assert found.document["services"]["worker"]["image"] == ours
    assert found.document["services"]["web"]["build"]["context"] == "/releases/one/app"


def test_a_name_that_the_engine_would_not_take_is_made_one() -> None:
    assert re.fullmatch(f"{SITE.name}-my-web-[0-9a-f]{{8}}:c0ffee000000", SITE.image("My_web"))
    assert SITE.image("My_web") != SITE.image("my.web")


def test_paths_begin_where_the_file_lies() -> None:
    site = replace(SITE, file="deploy/compose.yml")
    found = composed(
        "services: {web: {build: {context: .., dockerfile: deploy/Dockerfile}, volumes: ['./a:/a']}}", site
    )
    service = found.document["services"]["web"]
    assert service["build"]["context"] == "/releases/one"
    assert service["build"]["dockerfile"] == "deploy/Dockerfile"
    assert service["volumes"][0]["source"] == "/releases/one/deploy/a"
    assert [(one.path, one.kind) for one in found.inside] == [
        (".", "folder"),
        ("deploy/Dockerfile", "file"),
        ("deploy/a", "any"),
    ]
    assert problems("services: {web: {build: ../..}}", site)


def test_what_of_the_repository_is_mounted_is_read_only_and_volumes_are_not() -> None:
    text = """
    services:
      web:
        image: x
        volumes:
          - ./conf:/conf
          - data:/data
          - {type: volume, source: data, target: /again, read_only: true}
          - {type: tmpfs, target: /tmp, tmpfs: {size: 1000}}
    volumes: {data: {name: elsewhere, driver: local, labels: {a: b}}}
    """
    found = composed(text)
    assert found.document["services"]["web"]["volumes"] == [
        {"type": "bind", "target": "/conf", "source": "/releases/one/conf", "read_only": True},
        {"type": "volume", "target": "/data", "source": "data"},
        {"type": "volume", "target": "/again", "source": "data", "read_only": True},
        {"type": "tmpfs", "target": "/tmp", "tmpfs": {"size": 1000}},
    ]
    assert found.document["volumes"] == {"data": {"name": f"{SITE.name}-data", "labels": OURS}}


def test_networks_have_names_of_ours() -> None:
    text = (
        "services: {web: {image: x, networks: {back: {aliases: [w]}}}}\nnetworks: {back: {internal: true, name: host}}"
    )
    found = composed(text).document
    assert found["networks"]["back"] == {"name": f"{SITE.name}.internal-back", "labels": OURS, "internal": True}
    assert found["services"]["web"]["networks"] == {"back": {"aliases": ["w"]}}


# --- variables and environment -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("plain", "plain"),
        ("$SET", "one"),
        ("${SET}", "one"),
        ("a${SET}b$SET", "aonebone"),
        ("$SETTER-$SET.x", None),
        ("${EMPTY}", ""),
        ("${EMPTY:-else}", "else"),
        ("${EMPTY-else}", ""),
        ("${UNSET:-else}", "else"),
        ("${UNSET-else}", "else"),
        ("${UNSET:-}", ""),
        ("${UNSET:-a:-b}", "a:-b"),
        ("${UNSET:-${SET}}", "one"),
        ("${UNSET:-${UNSET:-$SET}}!", "one!"),
        ("${SET:?why}", "one"),
        ("${SET?why}", "one"),
        ("${EMPTY?why}", ""),
        ("${SET:+then}", "then"),
        ("${UNSET:+then}", ""),
        ("${EMPTY+then}", "then"),
        ("$$SET", "$SET"),
        ("$${SET}", "${SET}"),
        ("$$$SET", "$one"),
        ("${DOLLAR}", "${SET}"),
        ("$UNSET", None),
        ("${UNSET}", None),
        ("${EMPTY:?why}", None),
        ("${UNSET?why}", None),
        ("${SET", None),
        ("${}", None),
        ("${SET!x}", None),
        ("$", None),
        ("$1", None),
        ("a$ b", None),
        ("${UNSET:-" * 9 + "x" + "}" * 9, None),
    ],
)
def test_variables(text: str, means: str | None) -> None:
    words = {"SET": "one", "EMPTY": "", "DOLLAR": "${SET}"}
    if means is None:
        with pytest.raises(ValueError):
            substituted(text, words)
    else:
        assert substituted(text, words) == means


def test_a_variable_without_a_value_is_named_with_where_and_why() -> None:
    (line,) = problems("services: {web: {image: x, environment: {KEY: '${API_KEY:?ask Anna}'}}}")
    assert line.startswith("services.web.environment.KEY: the variable API_KEY has no value")
    assert "ask Anna" in line
    assert "env_file" in line


def test_text_cannot_be_blown_up() -> None:
    problems_ = Problems()
    words = {"A": "x" * 50_000}
    filled([["$A"]] * 100, words, "services.web", problems_)
    filled("$A$A", words, "services.db", problems_)
    assert [line.partition(":")[0] for line in problems_.told] == ["services", "services.db"]


def test_compose_is_left_nothing_to_put_in() -> None:
    found = web("command: [sh, -c, 'echo $$HOME ${SECRET}']")
    assert found["command"] == ["sh", "-c", "echo $$HOME a$$b"]
    assert found["environment"]["SECRET"] == "a$$b"


def test_the_owners_words_win_and_go_to_what_is_built_here_only() -> None:
    text = """
    services:
      web: {build: ., environment: {SECRET: theirs, DEBUG: true, N: 1, TAG: , ABSENT: }}
      db: {image: x, environment: ["PASSWORD=${SECRET}", TAG, ABSENT]}
    """
    services = composed(text).document["services"]
    assert services["web"]["environment"] == {"SECRET": "a$$b", "DEBUG": "true", "N": "1", "TAG": "7"}
    assert services["db"]["environment"] == {"PASSWORD": "a$$b", "TAG": "7"}


ENV_FILE = "services: {web: {image: x}, db: {image: y, env_file: conf/db.env, environment: {B: '2'}}}"


def test_an_env_file_of_the_repository_is_read_by_us() -> None:
    assert env_files(strict_yaml.parse(ENV_FILE, "x").value, SITE) == ("conf/db.env",)
    site = replace(SITE, files={"conf/db.env": {"A": "1$", "B": "1"}})
    service = composed(ENV_FILE, site).document["services"]["db"]
    assert service["environment"] == {"A": "1$$", "B": "2"}
    assert "env_file" not in service


def test_one_that_is_not_there_is_the_owners() -> None:
    assert "`deploy.staging.env_file`" in problems(ENV_FILE)[0]
    service = composed(ENV_FILE, replace(SITE, has_env_file=True)).document["services"]["db"]
    assert service["environment"] == {"B": "2", "SECRET": "a$$b", "TAG": "7"}
    empty = composed(ENV_FILE, replace(SITE, has_env_file=True, env={})).document["services"]["db"]
    assert empty["environment"] == {"B": "2"}


def test_one_that_need_not_be_there_need_not() -> None:
    assert composed("services: {web: {image: x, env_file: [{path: .env, required: false}]}}")


# --- whatever it says ----------------------------------------------------------------------------------------

KEYS = sorted(
    {row[0].partition(":")[0] for row in OF_A_SERVICE}
    | set(compose_service.PLAIN)
    | compose_service.OURS
    | compose_service.WRITTEN_ANEW
    | {"deploy"}
)
LIKELY = """./a ../a /etc ~/x data:/data ./a:/a /:/x data web host true no $SECRET ${TAG:-/} $$x https://x/y . A
    service_started python:3 30s A=b 1000 /tmp bind \x85x"""
WORDS = st.sampled_from(["", *LIKELY.split(" ")])
PLAIN = st.one_of(WORDS, st.booleans(), st.none(), st.integers(0, 99), st.text(max_size=8))
DEEPER = "type source target bind driver_opts external internal path condition default web"
INNER = st.sampled_from(sorted({*BUILD_OURS, *BUILD_REFUSED, *compose_service.HEALTH, *DEEPER.split()}))
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(INNER, inner, max_size=4), max_leaves=8
)
SERVICES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4).map(lambda said: {"image": "python:3", **said})
FILES = st.fixed_dictionaries(
    {"services": st.fixed_dictionaries({"web": SERVICES}, optional={"db": SERVICES})},
    optional={
        "volumes": st.dictionaries(st.sampled_from(["data", "b"]), VALUES, max_size=2),
        "networks": st.dictionaries(st.sampled_from(["default", "net"]), VALUES, max_size=2),
        "x-more": VALUES,
        "include": VALUES,
    },
)
MAY_STAND = {
    *compose_service.PLAIN,
    *("image", "build", "environment", "volumes", "networks", "depends_on", "healthcheck", "links", "restart"),
    *(
        "labels",
        "logging",
        "mem_limit",
        "memswap_limit",
        "cpus",
        "pids_limit",
        "security_opt",
        "init",
        "ports",
        "cap_drop",
    ),
}
MANY = settings(suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(FILES)
def test_whatever_it_says_what_we_run_stays_inside(said: Any) -> None:
    found = checked(said, SITE)
    if isinstance(found, Forbidden):
        assert found.problems
        return
    assert found.document.keys() <= TOP
    for service in found.document["services"].values():
        assert service.keys() <= MAY_STAND
        assert service["security_opt"] == ["no-new-privileges:true"] and service["cap_drop"] == ["ALL"]
        assert set(service.get("ports", [])) <= {"127.0.0.1:8101:8000"}
        for mount in service.get("volumes", []):
            is_ours = mount["type"] != "bind" or (_is_inside(mount["source"]) and mount["read_only"])
            assert is_ours
        if "build" in service:
            assert _is_inside(service["build"]["context"])
            assert service["build"].keys() <= {"context", "dockerfile", "args", "target", "labels"}
    for part in (*found.document["volumes"].values(), *found.document["networks"].values()):
        assert part.keys() <= {"name", "labels", "internal"}
        assert part["name"].startswith(SITE.name)
    for leaf in leaves(found.document):
        assert "$" not in leaf.replace("$$", "")


def test_a_value_may_hold_what_a_reader_of_yaml_would_not_take_as_it_is() -> None:
    value = '\x01\x7f\x85\u2028\ufeff\uffff\U0001f600\t\n"\\'
    found = composed("services: {web: {image: x}}", replace(SITE, env={"A": value}))
    assert yaml.safe_load(found.as_json)["services"]["web"]["environment"] == {"A": value}
    assert "no program" in str(problems("services: {web: {image: x}}", replace(SITE, env={"A": "\ud800"})))


@MANY
@given(FILES)
def test_what_we_write_is_read_as_what_we_meant(said: Any) -> None:
    found = checked(said, SITE)
    if isinstance(found, Composed):
        assert json.loads(found.as_json) == found.document
        assert yaml.safe_load(found.as_json) == found.document


@MANY
@given(FILES)
def test_the_same_file_gives_the_same(said: Any) -> None:
    assert checked(said, SITE) == checked(json.loads(json.dumps(said)), SITE)


def _is_inside(path: str) -> bool:
    return path == SITE.folder or (path.startswith(f"{SITE.folder}/") and ".." not in re.split("/", path))


def leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value
