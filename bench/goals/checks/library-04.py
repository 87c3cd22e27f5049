from common import holds


def check(tree):
    import taka

    wanted = {
        ("120000.50", "BDT"): "one lakh twenty thousand taka and fifty paisa only",
        ("5", "JPY"): "five yen only",
        ("1.250", "KWD"): "one kuwaiti dinar and two hundred fifty fils only",
        ("2.50", "MKD"): "two denar and 50/100 only",
        ("20000019", "BDT"): "two crore nineteen taka only",
    }
    for (amount, code), text in wanted.items():
        said = taka.in_words(taka.Money(amount, code))
        if said != text:
            return f"{amount} {code}: {said}"
    return None if "in_words" in taka.__all__ else "in_words is not public"


holds(check)
