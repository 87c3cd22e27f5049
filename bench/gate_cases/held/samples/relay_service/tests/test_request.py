import asyncio
import unittest

from relay.request import BadRequest, Request, length_of, parse_head, read_request, response


class RequestTests(unittest.IsolatedAsyncioTestCase):
    async def test_a_request_is_read_from_a_stream(self):
        reader = asyncio.StreamReader()
        reader.feed_data(b"POST /to/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcdef")
        found = await read_request(reader)
        self.assertEqual(found, Request("POST", "/to/a", {"Host": "x", "Content-Length": "3"}, b"abc"))

    def test_what_is_no_request_is_refused(self):
        for text in ("", "GET /", "BREW /pot HTTP/1.1", "GET / HTTP/1.1\r\nHost"):
            with self.subTest(text), self.assertRaises(BadRequest):
                parse_head(text)

    def test_a_body_has_a_limit(self):
        with self.assertRaisesRegex(BadRequest, "too large"):
            length_of({"Content-Length": "1000001"})

    def test_an_answer_says_how_long_it_is(self):
        self.assertIn(b"Content-Length: 2\r\n", response(200, "ok"))
