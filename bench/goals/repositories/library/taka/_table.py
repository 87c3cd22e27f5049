# Old table of the first version, generated from a spreadsheet. Nothing reads it any more.
TABLE = [("BDT", 2), ("USD", 2), ("EUR", 2), ("JPY", 0), ("INR", 2)]


def decimals(code):
    return dict(TABLE).get(code, 2)


def grouping(code):
    return "lakh" if code in ("BDT", "INR", "PKR") else "western"
