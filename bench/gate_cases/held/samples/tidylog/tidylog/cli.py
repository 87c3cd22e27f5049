"""The command line."""

import argparse
import sys
from datetime import datetime, timezone

from tidylog import config, summary
from tidylog.output import FORMATS
from tidylog.reader import LEVELS, read_file
from tidylog.timespan import parse_span, show_span


def build_parser():
    parser = argparse.ArgumentParser(prog="tidylog", description="Sums up log files.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("summary", "hours", "errors"):
        command = commands.add_parser(name)
        command.add_argument("file")
        command.add_argument("--since", help="only the last ... (2h, 1d12h)")
        command.add_argument("--level", choices=LEVELS)
        command.add_argument("--format", choices=tuple(FORMATS))
        command.add_argument("--config", help="an ini file")
    return parser


def wanted(options, settings, now):
    """The records that the options leave."""
    found = summary.at_least(read_file(options.file), options.level or settings.level)
    if options.since:
        found = summary.since(found, now - parse_span(options.since))
    return found


def rows_of(command, records, top):
    """(rows, heads) of a command."""
    if command == "hours":
        return list(summary.by_hour(records).items()), ("hour", "lines")
    if command == "errors":
        return summary.top_messages(summary.at_least(records, "ERROR"), top), ("message", "lines")
    return list(summary.by_level(records).items()), ("level", "lines")


def main(argv=None, now=None, out=None):
    """The exit code."""
    options = build_parser().parse_args(argv)
    out = out or sys.stdout
    try:
        settings = config.load(options.config)
        records = wanted(options, settings, now or datetime.now(timezone.utc))
    except (OSError, ValueError) as problem:
        print(f"tidylog: {problem}", file=sys.stderr)
        return 2
    rows, heads = rows_of(options.command, records, settings.top)
    print(FORMATS[options.format or settings.format](rows, heads), file=out)
    if options.command == "summary" and records:
        print(f"span: {show_span(summary.span(records))}", file=out)
    return 1 if options.command == "errors" and rows else 0


if __name__ == "__main__":
    raise SystemExit(main())
