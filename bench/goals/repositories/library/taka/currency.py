from dataclasses import dataclass


@dataclass(frozen=True)
class Currency:
    code: str
    number: str
    name: str
    symbol: str = ""
    decimals: int = 2
    minor: str = ""  # name of the hundredth; empty: has none in use
    grouping: str = "western"  # or "lakh"
