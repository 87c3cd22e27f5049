"""Errors, named by what happens next.

TeamError               one line for the owner; the command ends with exit code 1
 ├ Stumble              this attempt failed: the task is tried again later
 │  ├ CommandFailed     a program ended badly, or git did
 │  ├ ReplyDeclined     the model, and the one after it, will not answer this at all
 │  └ Unavailable       a service does not answer; it is unknown whether the work was done
 │     └ ModelAway      the model does not answer anybody: no task is to blame
 ├ OutOfBudget          rest until the cap allows more
 │  ├ TaskCapReached    this one task has used up what it may cost
 │  └ ShareReached      upkeep has used up its share of the day: it rests, all else goes on
 ├ Stopping             the program is being stopped: what was cut is begun anew
 ├ Refused              this one file, folder or answer is set aside; nothing of it was used
 ├ Misconfigured        the owner has to change something; the text says what to type
 └ Replaced             another daemon has taken over: this one ends, and writes and sends nothing any more
ImpossibleTransition    a bug of ours
"""


class TeamError(Exception):
    """A named problem. Its text is one line that a person can act on."""


class Stumble(TeamError):
    """Failure of this attempt; the task is tried again later."""


class CommandFailed(Stumble):
    """A program that we started ended badly. The text is its first telling line."""


class ReplyDeclined(Stumble):
    """The model, and the one after it, will not answer this at all."""


class Unavailable(Stumble):
    """A service does not answer, or answers with its own error. It is unknown whether the work was done.

    `unbilled`: it is certain that it was not, and that it costs nothing.
    """

    def __init__(self, text: str = "", unbilled: bool = False) -> None:
        super().__init__(text)
        self.unbilled = unbilled


class ModelAway(Unavailable):
    """The model does not answer, whoever asks: no task is to blame, and none is tried until it does."""


class OutOfBudget(TeamError):
    """A cap is reached; nothing was sent. The text names the cap."""


class TaskCapReached(OutOfBudget):
    """The cap of this one task: the others go on."""


class ShareReached(OutOfBudget):
    """The share of a day for what nobody asked for: that rests until tomorrow, all else goes on."""


class Stopping(TeamError):
    """The program is being stopped, and something was cut for that: it counts as never begun."""


class Refused(TeamError):
    """Refusal of one file, folder or answer: it is set aside. The text names it and the reason."""


class Misconfigured(TeamError):
    """The owner has to change something. The text says what to type."""


class Replaced(TeamError):
    """Another daemon has taken over this home: this one ends. Nothing that it still tries is written or sent."""


class ImpossibleTransition(Exception):
    """An event that the lifecycle table does not know in this state: a bug of ours."""


class BrokenSetup(Misconfigured):
    """The environment for the tests cannot be built. The text shows the last lines and names the file to mend."""
