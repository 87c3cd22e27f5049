"""The parser of the commands -> a script that completes them in a shell. Nothing is asked while somebody types."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping

from sisimpur.cli.terminal.arguments import DONE, Arguments
from sisimpur.cli.terminal.command_line import CommandLine
from sisimpur.cli.terminal.parser import make_parser

BASH = """\
_sisimpur() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= words= at
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${{COMP_WORDS[at]}} in
            --home) ((at++)) ;;
            -*) ;;
            *) command=${{COMP_WORDS[at]}}; break ;;
        esac
    done
    case $before in
        --home|--target|--script) COMPREPLY=($(compgen -f -- "$word")); return ;;
    esac
    case "$command $before" in
{values}
        *) case $command in
            "") words={names} ;;
{options}
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -F _sisimpur sisimpur
"""
ZSH = """\
#compdef sisimpur
_sisimpur() {{
    local -a commands
    local state
    commands=(
{names}
    )
    _arguments -C '--home[where all data lies]:folder:_files -/' {options} '1: :->command' '*:: :->rest'
    case $state in
        command) _describe command commands ;;
        rest) case $words[1] in
{commands}
        esac ;;
    esac
}}
if [ "$funcstack[1]" = _sisimpur ]; then _sisimpur "$@"; else compdef _sisimpur sisimpur; fi
"""


def completion(arguments: Arguments) -> int:
    scripts: Mapping[str, Callable[[CommandLine], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
    print(scripts[arguments.shell](make_parser()), end="")
    return DONE


def _options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    return (action for action in parser._actions if action.option_strings)


def _choices(parser: argparse.ArgumentParser) -> list[str]:
    """Return what may stand in place of its first word."""
    placed = [action for action in parser._actions if not action.option_strings and action.choices]
    return [str(word) for action in placed for word in action.choices or ()]


def _words(commands: CommandLine, name: str) -> list[str]:
    parser = commands.commands[name]
    placed = list(commands.commands) if name == "help" else _choices(parser)
    return [*placed, *(word for action in _options(parser) for word in action.option_strings)]


def bash(commands: CommandLine) -> str:
    values, options = [], []
    for name, parser in commands.commands.items():
        options.append(f"            {name}) words={shlex.quote(' '.join(_words(commands, name)))} ;;")
        for action in _options(parser):
            if action.choices:
                cases = "|".join(f"{shlex.quote(f'{name} {word}')}" for word in action.option_strings)
                values.append(f"        {cases}) words={shlex.quote(' '.join(map(str, action.choices)))} ;;")
    own = [word for action in _options(commands) for word in action.option_strings]
    names = shlex.quote(" ".join([*commands.commands, *own]))
    return BASH.format(names=names, values="\n".join(values), options="\n".join(options))


def zsh(commands: CommandLine) -> str:
    helps = [pair for group in commands.groups.values() for pair in group]
    names = "\n".join(f"        {shlex.quote(f'{name}:{help_}')}" for name, help_ in helps)
    rows = []
    for name, parser in commands.commands.items():
        placed = list(commands.commands) if name == "help" else _choices(parser)
        first = [shlex.quote(f"1: :({' '.join(placed)})")] if placed else []
        rows.append(f"            {name}) _arguments {' '.join([*_zsh_options(parser), *first])} ;;")
    own = [option for option in _zsh_options(commands) if "--home" not in option]
    return ZSH.format(names=names, options=" ".join(own), commands="\n".join(rows))


def _zsh_options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in _options(parser):
        text = (action.help or "").replace("[", "(").replace("]", ")").replace(":", ",")
        value = ""
        if action.nargs != 0:
            value = f":{action.dest}:" + (f"({' '.join(map(str, action.choices))})" if action.choices else "")
        yield from (shlex.quote(f"{word}[{text}]{value}") for word in action.option_strings)


def fish(commands: CommandLine) -> str:
    lines = ["complete -c sisimpur -f", *_fish_options(commands, "")]
    none = f" -n 'not __fish_seen_subcommand_from {' '.join(commands.commands)}'"
    for name, help_ in (pair for group in commands.groups.values() for pair in group):
        lines.append(f"complete -c sisimpur{none} -a {name} -d {_fish(help_)}")
    for name, parser in commands.commands.items():
        seen = f" -n '__fish_seen_subcommand_from {name}'"
        placed = list(commands.commands) if name == "help" else _choices(parser)
        if placed:
            lines.append(f"complete -c sisimpur{seen} -a {_fish(' '.join(placed))}")
        lines += _fish_options(parser, seen)
    return "\n".join(lines) + "\n"


def _fish_options(parser: argparse.ArgumentParser, seen: str) -> Iterator[str]:
    for action in _options(parser):
        names = "".join(
            f" {'-l' if word.startswith('--') else '-s'} {word.lstrip('-')}" for word in action.option_strings
        )
        value = "" if action.nargs == 0 else " -x"
        if action.choices:
            value += f" -a {_fish(' '.join(map(str, action.choices)))}"
        elif action.dest in ("home", "target", "script"):
            value = " -r -F"
        yield f"complete -c sisimpur{seen}{names}{value} -d {_fish(action.help or '')}"


def _fish(text: str) -> str:
    """Quote as fish wants it: in single quotes a backslash escapes a quote, or a backslash."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
