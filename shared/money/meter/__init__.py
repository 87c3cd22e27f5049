"""The one way to a model: a gateway that reserves, sends and books.

It loads the web server: import it where it is used.
"""

from sisimpur.shared.money.meter.parts import MeterTimeouts
from sisimpur.shared.money.meter.server import Meter, MeterSetup
from sisimpur.shared.money.meter.upstream import Upstream

__all__ = ["Meter", "MeterSetup", "MeterTimeouts", "Upstream"]
