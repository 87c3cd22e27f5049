from datetime import date, timedelta


def today():
    return date.today().isoformat()


def yesterday():
    return (date.today() - timedelta(days=1)).isoformat()


def month_before(month):
    year, number = map(int, month.split("-"))
    return f"{year - 1}-12" if number == 1 else f"{year}-{number - 1:02d}"


def is_month(text):
    try:
        date.fromisoformat(text + "-01")
    except ValueError:
        return False
    return True
