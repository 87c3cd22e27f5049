from common import holds


def check(tree):
    from taka import Currency, Money, format_money, register

    wanted = {"BDT": "৳12,34,567.00", "NPR": "रू12,34,567.00", "INR": "₹12,34,567.00", "USD": "$1,234,567.00"}
    for code, text in wanted.items():
        if format_money(Money(1234567, code)) != text:
            return f"{code}: {format_money(Money(1234567, code))}"
    register(Currency("PTS", "000", "Points", symbol="*", decimals=0, grouping="lakh"))
    if format_money(Money(1234567, "PTS")) != "*12,34,567":
        return "a currency of the program's own is not grouped as it says"
    return None


holds(check)
