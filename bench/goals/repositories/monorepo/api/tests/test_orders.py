import json


def test_an_order_costs_delivery(app):
    body = json.dumps({"name": "Mitu", "items": [{"id": 1, "count": 2}]}).encode()
    _, made = app.handle("POST", "/orders", body=body)
    assert app.handle("GET", f"/orders/{made['id']}")[1]["taka"] == 220.0


def test_a_name_is_needed(app):
    assert app.handle("POST", "/orders", body=b"{}")[0] == 400
