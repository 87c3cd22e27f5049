import pytest

from tidylog.config import Settings, load


def test_without_a_file_all_is_as_usual():
    assert load() == Settings("table", "DEBUG", 5)


def test_a_file_says_what_is_different(tmp_path):
    path = tmp_path / "tidylog.ini"
    path.write_text("[tidylog]\nformat = json\ntop = 3\n")
    assert load(path) == Settings("json", "DEBUG", 3)


@pytest.mark.parametrize("text", ["[tidylog]\ncolour = red\n", "[tidylog]\ntop = many\n"])
def test_what_is_no_setting_is_refused(tmp_path, text):
    path = tmp_path / "tidylog.ini"
    path.write_text(text)
    with pytest.raises(ValueError):
        load(path)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        load(tmp_path / "none.ini")
