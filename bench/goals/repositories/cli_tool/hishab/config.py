import configparser
from pathlib import Path

PLACE = Path("~/.hishab/hishab.ini")


def read(path=None):
    parser = configparser.ConfigParser()
    parser.read(Path(path or PLACE).expanduser())
    return parser


def budgets(parser):
    if not parser.has_section("budget"):
        return {}
    return {tag: parser.getfloat("budget", tag) for tag in parser.options("budget")}
