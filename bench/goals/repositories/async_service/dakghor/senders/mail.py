import asyncio
import os
import smtplib
from email.message import EmailMessage


class Mail:
    async def send(self, payload):
        await asyncio.to_thread(self._send, payload)

    def _send(self, payload):
        mail = EmailMessage()
        mail["To"] = payload["to"]
        mail["From"] = os.environ.get("DAKGHOR_FROM", "no-reply@dakghor.example")
        mail["Subject"] = payload.get("subject", payload["text"].split("\n")[0][:70])
        mail.set_content(payload["text"])
        with smtplib.SMTP(os.environ.get("SMTP_HOST", "localhost")) as smtp:
            smtp.send_message(mail)
