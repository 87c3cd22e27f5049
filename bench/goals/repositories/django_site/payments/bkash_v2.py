"""bKash, second API: a token per session, amounts in paisa."""

HOST = "https://api.bkash.example/v2"


class BkashV2:
    def __init__(self, send):
        self.send = send

    def charge(self, order, amount):
        answer = self.send(HOST + "/payments", {"order": order.pk, "paisa": int(amount * 100)})
        return answer["id"]

    def refund(self, order, amount):
        answer = self.send(HOST + "/refunds", {"payment": order.payment_reference, "paisa": int(amount * 100)})
        return bool(answer.get("done"))
