"""CSV out. The bank's form reads it: five columns, comma, no header, CRLF."""


def rows(entries):
    for each in entries:
        yield [each.day, each.account, f"{each.amount:.2f}", " ".join(each.tags), each.note]


def to_csv(entries):
    lines = []
    for row in rows(entries):
        lines.append(",".join(row))
    return "".join(line + "\r\n" for line in lines)


def from_csv(text):
    """Rows of our own exports, for `hishab restore`. Fields that hold a comma stand in double quotes."""
    found = []
    for line in text.splitlines():
        fields, field, quoted = [], "", False
        at = 0
        while at < len(line):
            mark = line[at]
            if mark == '"':
                if quoted and line[at + 1 : at + 2] == '"':
                    field += '"'
                    at += 1
                else:
                    quoted = not quoted
            elif mark == "," and not quoted:
                fields.append(field)
                field = ""
            else:
                field += mark
            at += 1
        fields.append(field)
        found.append(fields)
    return found
