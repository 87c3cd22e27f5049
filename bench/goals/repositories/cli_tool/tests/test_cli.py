def test_list_of_a_month(hishab):
    assert "rickshaw" in hishab("list", "--month", "2025-03")
    assert "salary" not in hishab("list", "--month", "2025-03")


def test_add(hishab, book):
    hishab("add", "55", "tea", "--tag", "food", "--day", "2025-03-09")
    assert book.entries()[-1].amount == 55.0


def test_report_is_a_table(hishab):
    assert "travel" in hishab("report").splitlines()[3] + hishab("report")


def test_balance(hishab):
    assert "cash" in hishab("balance")
