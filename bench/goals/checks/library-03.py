import time

from common import holds

MOST = 60  # milliseconds for 1,000


def milliseconds(parse, texts):
    begun = time.process_time()
    for text in texts:
        parse(text)
    return 1000 * (time.process_time() - begun)


def check(tree):
    from taka import Currency, Money, NotMoney, parse, register

    texts = [f"{n},5{n % 10}0.25 {mark}" for n in range(1, 251) for mark in ("", "USD", "€", "bdt")]
    least = min(milliseconds(parse, texts) for _ in range(4))
    right = {"A$ 5": ("5", "AUD"), "5 usd": ("5", "USD"), "৳ ১,২০০": ("1200", "BDT"), "-7": ("-7", "BDT"), "R$2": ("2", "BRL")}
    for text, (amount, code) in right.items():
        if parse(text) != Money(amount, code):
            return f"{text!r} is {parse(text)!r}"
    register(Currency("PTS", "000", "Points", symbol="★", decimals=0))
    if str(parse("★12")) != "PTS 12":
        return "a currency that is registered later is not known"
    try:
        parse("five")
    except NotMoney:
        return None if least <= MOST else f"{least:.0f} ms for 1,000"
    return "'five' is an amount"


holds(check)
