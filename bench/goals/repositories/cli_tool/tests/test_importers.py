from hishab import importers


def test_bkash():
    (entry,) = importers.read("bkash", "03/04/2025 Payment Shwapno  1,250.00\nTotal")
    assert (entry.day, entry.amount) == ("2025-04-03", 1250.0)


def test_names():
    assert importers.names() == ["bkash", "citybank"]
