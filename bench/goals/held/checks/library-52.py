# mypy: ignore-errors
"""What format_money prints is read back, with its sign, and nothing else is money that was not before."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)


def no(why):
    print(why)
    sys.exit(1)


from taka import Money, NotMoney, all_currencies, format_money, parse

try:
    plain = {each.code: parse(format_money(Money("1234567.5", each))) for each in all_currencies()}
except NotMoney as error:
    no(f"not read any more: {error}")
for each in all_currencies():
    for amount in ("-1234567.5", "-5", "-100000", "1234567.5", "0"):
        money = Money(amount, each)
        for digits in ("0123456789", "০১২৩৪৫৬৭৮৯"):
            text = format_money(money, digits=digits)
            # currencies that share a symbol are read as the first of them, as before
            wanted = Money(amount, plain[each.code].currency) if plain[each.code].currency != each else money
            try:
                if parse(text) != wanted:
                    no(f"{text!r} is read as {parse(text)!r}")
            except NotMoney:
                no(f"{text!r} is not read")
        bare = format_money(money, symbol=False)
        if parse(bare, default=each) != money:
            no(f"{bare!r} is read as {parse(bare, default=each)!r}")
for text in ("৳-500", "-500", "BDT -500", "-500 BDT", "-৳500"):
    if parse(text) != Money(-500):
        no(f"{text!r} is read as {parse(text)!r}")
for text in ("01711-123456", "5-3", "--5", "-৳-5", "5-", "৳5-", "-", "-৳", "2025-01-02"):
    try:
        read = parse(text)
    except NotMoney:
        continue
    no(f"{text!r} is read as {read!r}")
