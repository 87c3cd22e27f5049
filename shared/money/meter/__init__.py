"""The one way to a model: a gateway that reserves, sends and books.

It loads the web server: import it where it is used.
"""

from shared.money.meter.server import Meter, MeterTimeouts, Upstream

__all__ = ["Meter", "MeterTimeouts", "Upstream"]
