import asyncio
import json
import os
import urllib.request


class Sms:
    async def send(self, payload):
        await asyncio.to_thread(self._send, payload)

    def _send(self, payload):
        request = urllib.request.Request(
            os.environ["SMS_GATEWAY"], json.dumps({"to": payload["to"], "body": payload["text"][:160]}).encode()
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            if answer.status != 200:
                raise RuntimeError(f"gateway: {answer.status}")
