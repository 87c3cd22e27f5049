"""The parser of all commands, and how its help is set out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence

from sisimpur.cli.setup.folders import IS_INSTALLED, ROOT
from sisimpur.shared.model.naming import VERSION

PROGRAM = "sisimpur" if IS_INSTALLED or os.path.basename(sys.argv[0]) == "sisimpur" else "main.py"
TYPED = PROGRAM if PROGRAM == "sisimpur" else "python main.py"
DAY, LOOKING, MONEY = "Your day", "Looking at it", "Money"
DEPLOYS, SET_UP, DEVELOPERS = "Deploys", "Set-up", "For developers"
GROUPS = (DAY, LOOKING, MONEY, DEPLOYS, SET_UP, DEVELOPERS)
EXAMPLES = """\
examples:
  {program} --home ~/team init --target ~/code/my-project
  {program} --home ~/team run-day
  {program} --home ~/team status
"""


WRONG = 2  # the exit code of a wrong usage, as argparse has it


def _meant(typed: str, known: Iterable[str], all_: str) -> str:
    import difflib

    close = difflib.get_close_matches(typed, known, 3, 0.6)
    return f"did you mean {' or '.join(close)}?" if close else f"all of them: {TYPED} {all_}"


class CommandLine(argparse.ArgumentParser):
    """The parser of all. `commands`: the parser of each, by its name."""

    def __init__(self) -> None:
        super().__init__(prog=PROGRAM, add_help=False, description="VISION.md in, pull requests out, under a budget.")
        self.add_argument("-h", "--help", action="help", help="this list; `help COMMAND` for one command")
        self.add_argument("-V", "--version", action="version", version=f"sisimpur {VERSION}", help="the version")
        self.add_argument(
            "--home",
            metavar="DIR",
            help="where all data lies (default: $SISIMPUR_HOME, else the nearest folder upwards with config/,"
            f" else {'~/.local/share/sisimpur' if IS_INSTALLED else 'this checkout'})",
        )
        self.commands: dict[str, argparse.ArgumentParser] = {}
        self.groups: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        self._parsers = self.add_subparsers(
            dest="command", metavar="COMMAND", required=True, prog=PROGRAM, parser_class=argparse.ArgumentParser
        )

    def expect_command(self, words: Sequence[str]) -> None:
        """End with what was perhaps meant if the first word, after a home, names no command, or there is none."""
        if not words:
            self.error(f"type a command; all of them: {TYPED} help")
        names = [word for at, word in enumerate(words) if word[:1] != "-" and words[at - 1 : at] != ["--home"]]
        if names and names[0] not in self.commands:
            self.error(f"there is no command {names[0]!r}; {_meant(names[0], self.commands, 'help')}")
        if names:
            self._expect_options(names[0], words[words.index(names[0]) + 1 :])

    def _expect_options(self, command: str, words: Sequence[str]) -> None:
        """End in one line, without all the usage, at a `--word` that this command does not have."""
        known = [name for action in self.commands[command]._actions for name in action.option_strings]
        for word in words:
            name = word.partition("=")[0]
            if word == "--":
                return
            is_option = word[:2] == "--" and not any(one.isspace() for one in name)  # a text may begin like one
            if is_option and not any(one.startswith(name) for one in known):
                meant = _meant(name, known, f"help {command}")
                self.exit(WRONG, f"{self.prog}: {command} has no option {name}; {meant}\n")

    def add(self, group: str, name: str, run: str, help_: str, *examples: str) -> argparse.ArgumentParser:
        """Add a command. `run` names the function that serves it: its module is loaded only when it runs."""
        shown = "".join(f"\n  {TYPED} {example}" for example in examples)
        command = self._parsers.add_parser(
            name,
            description=f"{help_[0].upper()}{help_[1:]}.",
            epilog=f"examples:{shown}" if shown else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            argument_default=argparse.SUPPRESS,  # every default is taken from Arguments
        )
        command.set_defaults(run=run)
        self.commands[name] = command
        self.groups[group].append((name, help_))
        return command

    def view(self, group: str, name: str, run: str, help_: str, *examples: str) -> argparse.ArgumentParser:
        command = self.add(group, name, run, help_, *examples)
        command.add_argument("--json", action="store_true", help="for scripts")
        return command

    def format_help(self) -> str:
        """Return usage, the commands by what is wanted, the options, and examples."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        parts = [formatter.format_help()]
        for group, commands in self.groups.items():
            parts.append(f"{group}:\n" + "".join(f"  {name:<15} {help_}\n" for name, help_ in commands))
        options = self._get_formatter()
        options.start_section("options")
        options.add_arguments([action for action in self._actions if action.option_strings])
        options.end_section()
        parts += [options.format_help(), EXAMPLES.format(program=TYPED), f"docs: {ROOT / 'docs' / 'README.md'}\n"]
        return "\n".join(parts)
