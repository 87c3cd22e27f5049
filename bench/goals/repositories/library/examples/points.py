from taka import Currency, Money, register

register(Currency("PTS", "000", "Points", symbol="★", decimals=0))
print(Money(12, "PTS"))
