import json


def test_listed(app):
    status, found = app.handle("GET", "/products")
    assert status == 200
    assert [each["name"] for each in found["products"]] == ["Rice", "Dal", "Oil"]


def test_one(app):
    assert app.handle("GET", "/products/3")[1]["taka"] == 190.5
    assert app.handle("GET", "/products/9")[0] == 404


def test_hidden(app, db):
    db.write("update product set is_hidden = 1 where id = 1")
    assert app.handle("GET", "/products/1")[0] == 404


def test_add(app):
    status, found = app.handle("POST", "/products", body=json.dumps({"name": "Salt", "taka": 40}).encode())
    assert (status, found) == (200, {"id": 4})
