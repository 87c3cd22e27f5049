import pytest

from haat.app import App
from haat.db import Db


@pytest.fixture
def db():
    made = Db(":memory:")
    made.write("insert into seller (name) values ('Rafi')")
    for name, paisa in (("Rice", 8000), ("Dal", 12000), ("Oil", 19050)):
        made.write("insert into product (seller, name, paisa) values (1, ?, ?)", name, paisa)
    return made


@pytest.fixture
def app(db):
    return App(db)
