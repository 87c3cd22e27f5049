"""What an order says. Unknown keys are refused, all texts are bounded; none of them becomes a command or a key."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

from sisimpur.web.api.access.passkey_check import SignedByPasskey
from sisimpur.web.api.base.board_openapi import BoardBody

MOST = 200
LONGEST_WORDS = 1_000
MOST_COMMENTS, LONGEST_COMMENTS = 50, 8_000  # characters of all of them: a coder reads them at once
LONGEST_FILE = 200_000

Words = Annotated[str, Field(max_length=LONGEST_WORDS)]
Commit = Annotated[str, Field(pattern=r"^([0-9a-f]{40,64})?$")]
NewTask = Annotated[str, Field(pattern=r"^([a-z0-9][a-z0-9._-]{0,79})?$")]
OneLine = Annotated[str, Field(max_length=500, pattern=r"^[^\r\n]*$")]


class LineComment(BoardBody):
    """A word about one line of the change. `side`: of the file as it was, or as it is; `quoted`: the line as shown."""

    path: Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^\r\n]*$")]
    side: Literal["old", "new"]
    line: Annotated[int, Field(ge=1, le=10_000_000)]
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_WORDS)]
    quoted: OneLine = ""


class RulingBody(BoardBody):
    """`commit`: what was looked at when it was decided, whole; empty: nothing was tested yet.

    `passkey`: what it has signed for exactly this, where the board has asked for it.
    """

    ruling: Literal["approve", "reject", "retry", "cancel", "done"]
    commit: Commit
    why: Words = ""
    passkey: SignedByPasskey | None = None
    comments: Annotated[tuple[LineComment, ...], Field(max_length=MOST_COMMENTS)] = ()

    @model_validator(mode="after")
    def _someone_reads_them(self) -> RulingBody:
        if self.comments and self.ruling not in ("reject", "retry"):
            raise ValueError("comments on lines are the coder's correction: send them with reject or retry")
        if len(self.words) > LONGEST_COMMENTS + LONGEST_WORDS:
            raise ValueError(f"the comments are too long: at most {LONGEST_COMMENTS} characters in all")
        return self

    @property
    def words(self) -> str:
        """Why, then a line for each comment: as the coder reads it."""
        lines = (
            f"{one.path}:{one.line} ({one.side})" + (f" `{one.quoted}`" if one.quoted else "") + f": {one.text}"
            for one in self.comments
        )
        return "\n".join(filter(None, (self.why, *lines)))


class ApprovalBody(BoardBody):
    commit: Commit
    why: Words = ""
    passkey: SignedByPasskey | None = None


class PlanBody(BoardBody):
    """`mark`: of the plan that was looked at."""

    ruling: Literal["approve", "drop"]
    mark: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    why: Words = ""


class AnswerBody(BoardBody):
    """`asked`: the questions about it that were shown, each in its words: one answer is to all of them."""

    id: Annotated[str, Field(max_length=100)]
    text: Words
    asked: Annotated[list[str], Field(max_length=MOST)]


class PauseBody(BoardBody):
    paused: bool
    why: Words = ""


class CapBody(BoardBody):
    """`cap`: dollars for the whole of today, e.g. 12.50."""

    cap: Annotated[str, Field(min_length=1, max_length=30)]
    why: Words = ""
    passkey: SignedByPasskey | None = None


class RollbackBody(BoardBody):
    """`place`: empty: production if it is configured, else staging."""

    place: Literal["", "staging", "production"] = ""


class WhyBody(BoardBody):
    why: Words = ""


class VisionBody(BoardBody):
    text: Annotated[str, Field(max_length=LONGEST_FILE)]


SettingKey = Annotated[str, Field(max_length=MOST)]
Written = (
    StrictBool | StrictInt | StrictFloat | Annotated[StrictStr, Field(max_length=MOST, pattern=r"^[^\r\n]*$")] | None
)


class SettingsBody(BoardBody):
    """`values`: by their keys; null: as if it were not there. `confirmed`: it was asked whether it is meant.

    `passkey`: what it has signed for exactly these values, where the board has asked for it.
    """

    file: Annotated[str, Field(max_length=MOST)]
    values: Annotated[dict[SettingKey, Written], Field(min_length=1, max_length=MOST)]
    confirmed: bool = False
    passkey: SignedByPasskey | None = None


class MoveBody(BoardBody):
    """`place`: the Monday of a week, or `later`."""

    goal: Annotated[str, Field(pattern=r"^[a-z]-[0-9a-z]{1,40}$")]
    place: Annotated[str, Field(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2}|later)$")]


class PreviewBody(BoardBody):
    """`text`: of VISION.md; absent: as it lies there."""

    text: Annotated[str | None, Field(max_length=LONGEST_FILE)] = None


class TaskBody(BoardBody):
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_FILE)]


class NewTaskBody(TaskBody):
    """`id`: empty: the next free one of today."""

    id: NewTask = ""
