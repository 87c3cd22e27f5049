class Push:
    async def send(self, payload):
        raise NotImplementedError("contract was never signed")
