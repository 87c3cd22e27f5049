"""bKash, first API. Signs with a checksum over the sorted fields."""
import hashlib
import time

HOST = "https://checkout.old.bkash.example/v1"
FEE = {"charge": "0.0185", "refund": "0"}


class BkashV1:
    def __init__(self, send):
        self.send = send  # send(url, fields) -> dict; the real one is in the server's repository

    def charge(self, order, amount):
        fields = {"invoice": str(order.pk), "amount": str(amount), "at": self._stamp()}
        answer = self.send(HOST + "/charge", self._signed(fields))
        if answer.get("status") != "ok":
            raise ValueError(answer.get("message", "no answer"))
        return answer["reference"]

    def refund(self, order, amount):
        fields = {"reference": order.payment_reference, "amount": str(amount)}
        answer = self.send(HOST + "/refund", self._signed(fields))
        return answer.get("status") == "ok"

    def _stamp(self):
        """Only charges carry a time."""
        return str(int(time.time()))

    def _signed(self, fields):
        text = "&".join(f"{key}={fields[key]}" for key in sorted(fields))
        return {**fields, "checksum": hashlib.sha256(text.encode()).hexdigest()}
