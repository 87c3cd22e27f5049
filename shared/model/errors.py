"""Errors, named by what happens next.

TeamError               one line for the owner; the command ends with exit code 1
 ├ Stumble              this attempt failed: the task is tried again later
 │  ├ CommandFailed     a program ended badly, or git did
 │  └ ReplyDeclined     the model, and the one after it, will not answer this at all
 ├ Unavailable          a service does not answer; it is unknown whether the work was done
 │  └ ForgeUnavailable  the forge or the target's repository does not answer
 ├ ModelAway            the model does not answer anybody: no task is to blame
 ├ OutOfBudget          rest until the cap allows more: `of` says who rests
 ├ Stopping             the program is being stopped: what was cut is begun anew
 ├ Refused              this one file, folder or answer is set aside; nothing of it was used
 ├ Misconfigured        the owner has to change something: `of` says who waits for it; the text says what to type
 │  └ BrokenSetup       the environment for the tests cannot be built
 └ Replaced             another daemon has taken over: this one ends, and writes and sends nothing any more
"""

from collections.abc import Sequence
from typing import Literal


class TeamError(Exception):
    """A named problem. Its text is one line that a person can act on."""


class Stumble(TeamError):
    """Failure of this attempt; the task is tried again later."""


class CommandFailed(Stumble):
    """A program that we started ended badly. The text is its first telling line."""


class ReplyDeclined(Stumble):
    """The model, and the one after it, will not answer this at all."""


class Unavailable(TeamError):
    """A service does not answer, or answers with its own error. It is unknown whether the work was done.

    `unbilled`: it is certain that it was not, and that it costs nothing. `wait`: it takes nothing now, and said when it
    will: in so many seconds.
    """

    def __init__(self, text: str = "", unbilled: bool = False, wait: float = 0.0) -> None:
        super().__init__(text)
        self.unbilled = unbilled
        self.wait = wait


class ForgeUnavailable(Unavailable):
    """The forge or the target's repository is away, has an error of its own, or another writer was faster."""


class ModelAway(TeamError):
    """The model does not answer, whoever asks: no task is to blame, and none is tried until it does."""


class OutOfBudget(TeamError):
    """A cap is reached; nothing was sent. The text names the cap.

    `of`: "task": the cap of this one task, the others go on; "upkeep": the share of a day for what nobody asked for,
    which rests until tomorrow while all else goes on; empty: everything rests.
    """

    def __init__(self, text: str = "", of: Literal["", "task", "upkeep"] = "") -> None:
        super().__init__(text)
        self.of = of


class Stopping(TeamError):
    """The program is being stopped, and something was cut for that: it counts as never begun."""


class Refused(TeamError):
    """Refusal of one file, folder or answer: it is set aside. The text names it and the reason."""


class Misconfigured(TeamError):
    """The owner has to change something. The text says what to type.

    `of`: "task": only this one task waits for it, e.g. its request is not taken by the model's vendor, or its goal's
    branch is in disorder; empty: whatever needs it. `wrong`: of a file, keys that are wrong, and what to write there.
    """

    def __init__(self, text: str = "", of: Literal["", "task"] = "", wrong: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self.of = of
        self.wrong = wrong


class Replaced(TeamError):
    """Another daemon has taken over this home: this one ends. Nothing that it still tries is written or sent."""


class BrokenSetup(Misconfigured):
    """The environment for the tests cannot be built. The text shows the last lines and names the file to mend."""
