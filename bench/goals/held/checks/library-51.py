# mypy: ignore-errors
"""Amounts go through pickle and copy, also in a process that does not know their currency, and stay fixed."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)


def no(why):
    print(why)
    sys.exit(1)


import copy
import pickle
import subprocess
from decimal import Decimal

from taka import Currency, Money, register

register(Currency("PTS", "000", "Points", symbol="★", decimals=0))
READ = """
import pickle, sys
for money in pickle.loads(sys.stdin.buffer.read()):
    print(repr(money), money.currency.symbol, money.currency.decimals, repr(money + money), money == money)
    try:
        money.amount = 5
    except AttributeError:
        continue
    print("changeable")
"""
cart = [Money("-12.34"), Money(7, "JPY"), Money("1.005", "KWD"), Money(12, "PTS")]
try:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        for made in (
            pickle.loads(pickle.dumps(cart, protocol)),
            copy.deepcopy(cart),
            [copy.copy(each) for each in cart],
        ):
            if made != cart or [each.currency for each in made] != [each.currency for each in cart]:
                no("a copy is not equal to what was copied")
            if any(not isinstance(each.amount, Decimal) for each in made):
                no("a copied amount is no Decimal any more")
    sent = pickle.dumps(cart)
except Exception as error:
    no(f"a copy fails: {type(error).__name__}: {error}")
read = subprocess.run([sys.executable, "-c", READ], input=sent, capture_output=True, cwd=TREE)
if read.returncode:
    no("another process cannot read it: " + read.stderr.decode().strip().splitlines()[-1])
told = read.stdout.decode().splitlines()
wanted = [f"{money!r} {money.currency.symbol} {money.currency.decimals} {money + money!r} True" for money in cart]
if told != wanted:
    no(f"another process reads {told}")
for name, value in (("amount", 5), ("currency", "USD"), ("other", 1)):
    try:
        setattr(cart[0], name, value)
    except AttributeError:
        continue
    no("an amount can be changed")
