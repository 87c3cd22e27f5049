"""A box that ends with the program. Whoever waits for what runs in it learns that it was cut, and does not judge it.

It passes on all that is asked of the box behind it; a job that ended by itself in the last moment is as good as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from shared.model.errors import Stopping
from shared.sandbox.box import Box
from shared.sandbox.box_job import Job
from shared.sandbox.bubblewrap import never
from shared.system.process import Finished


class Stoppable:
    """`stop`: whether the program is being stopped. Asked ten times a second, by every thread that runs a job."""

    def __init__(self, box: Box, stop: Callable[[], bool]) -> None:
        self._box, self._stop = box, stop

    @property
    def name(self) -> str:
        return self._box.name

    @property
    def version(self) -> str:
        return self._box.version

    @property
    def quality(self) -> Literal["full", "reduced"]:
        return self._box.quality

    def run(self, job: Job, stop: Callable[[], bool] = never) -> Finished:
        """As Box.run. Stopping: it was cut, or not even begun, because the program is being stopped."""
        if self._stop():
            raise Stopping("the program is being stopped: nothing is run any more")
        ours = False

        def either() -> bool:
            nonlocal ours
            ours = self._stop()
            return ours or stop()

        done = self._box.run(job, either)
        if done.end == "stopped" and ours:
            raise Stopping("the program is being stopped: what ran was cut, and is begun anew at the next start")
        return done
