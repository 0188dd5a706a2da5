"""A plain client for test_mock.py: http.client, a server process, and just enough SSE."""

import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 60  # seconds until a server counts as hanging


class Server:
    """The server as a child that ends with us."""
    def __init__(self, *options):
        self.process = subprocess.Popen([
            sys.executable,
            os.path.join(HERE, "server.py"), "--port", "0", *options
        ],
                                        stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        line = self.process.stdout.readline().split()
        if len(line) != 3:
            sys.exit("tests/mock/server.py did not start")
        self.port = int(line[2])

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class Answer:
    def __init__(self):
        self.status, self.headers, self.body, self.fault = None, {}, b"", None

    def text(self):
        try:
            return json.loads(self.body)["error"]["message"]
        except (ValueError, KeyError, TypeError):
            return self.body.decode("utf-8", "replace")


class Client:
    def __init__(self, port, context=None):
        self.port, self.context = port, context

    def connect(self, timeout):
        if self.context:
            return http.client.HTTPSConnection("127.0.0.1",
                                               self.port,
                                               timeout=timeout,
                                               context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def headers(self, path):
        return {
            "content-type": "application/json", "x-api-key": "key", "authorization": "Bearer key",
            "anthropic-version": "2023-06-01"
        }

    def post(self, path, body, headers=None, timeout=PATIENCE):
        out, end = Answer(), time.monotonic() + timeout
        connection = self.connect(timeout)
        try:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.request("POST", path, data,
                               self.headers(path) if headers is None else headers)
            reply = connection.getresponse()
            out.status = reply.status
            out.headers = {k.lower(): v for k, v in reply.getheaders()}
            while True:
                piece = reply.read1(65536)
                if not piece:
                    break
                out.body += piece
                if time.monotonic() > end:
                    raise TimeoutError("timed out")
        except http.client.IncompleteRead as e:
            out.body += e.partial
            out.fault = "incomplete"
        except (OSError, http.client.HTTPException, ssl.SSLError) as e:
            out.fault = str(e) or type(e).__name__
        finally:
            connection.close()
        return out

    def get(self, path):
        connection = self.connect(5)
        connection.request("GET", path)
        value = json.loads(connection.getresponse().read())
        connection.close()
        return value

    def twice(self, path, body):
        """The status of two requests on one connection; None where there was no answer."""
        connection, out = self.connect(5), []
        connection.auto_open = 1
        first = None
        for _ in range(2):
            try:
                if first is not None and connection.sock is not first:
                    raise ConnectionError("closed")
                connection.request("POST", path, json.dumps(body).encode(), self.headers(path))
                first = first or connection.sock
                reply = connection.getresponse()
                reply.read()
                out.append(reply.status)
            except (OSError, http.client.HTTPException):
                out.append(None)
        connection.close()
        return tuple(out)


def sse_events(raw):
    """[(event, data)] of a body; one without its blank line counts when its JSON is whole."""
    text = raw.decode("utf-8", "replace").lstrip("\ufeff")
    out, name, data = [], None, []
    lines = re.split("\r\n|\r|\n", text)
    for line in lines + [""]:
        if line == "":
            if data:
                out.append((name, "\n".join(data)))
            name, data = None, []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
    if out and not text.endswith(("\n\n", "\r\r", "\r\n\r\n")) and out[-1][1] != "[DONE]":
        try:
            json.loads(out[-1][1])
        except ValueError:
            out.pop()
    return out


def claude_text(raw):
    out = ""
    for _, data in sse_events(raw):
        event = json.loads(data)
        if event["type"] == "content_block_delta":
            out += event["delta"].get("text", "")
    return out


def chat_text(raw):
    out = ""
    for _, data in sse_events(raw):
        if data == "[DONE]":
            continue
        for choice in json.loads(data).get("choices") or []:
            out += (choice.get("delta") or {}).get("content") or ""
    return out
