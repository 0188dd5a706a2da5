#!/usr/bin/env python3
"""A server of FastAPI's on 127.0.0.1, whose own OpenAPI document phi reads, and every operation of which
prog_calls calls: parameters of each place, forms, multipart with files, credentials, an OAuth2 token server,
answers that are slow, cut, huge or endless. Prints "N passed, M failed"; exit code 1 on any failure.

    calls.py PROG_CALLS"""
import asyncio
import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
from typing import Annotated

import uvicorn
from fastapi import Body, Cookie, Depends, FastAPI, File, Form, Header, HTTPException, Path, Query, Request, UploadFile
from fastapi.openapi.utils import get_openapi
from fastapi.responses import PlainTextResponse, Response, StreamingResponse
from fastapi.security import APIKeyCookie, APIKeyHeader, APIKeyQuery, HTTPBasic, HTTPBearer
from fastapi.security import OAuth2
from pydantic import BaseModel

app = FastAPI()
passed = failed = 0
state = {"tokens": 0, "revoked": set()}


class Item(BaseModel):
    name: str
    price: float
    tags: list[str] = []
    inner: dict | None = None


@app.get("/path/{text}/{number}", operation_id="path")
def path(text: str, number: int):
    return {"text": text, "number": number}


@app.get("/styled/{a}/{b}/{c}/{d}", operation_id="styled")
def styled(request: Request, a: str, b: str, c: str, d: str):
    return {"raw": request.scope["raw_path"].decode()}


@app.get("/query", operation_id="query")
def query(text: str = "", many: Annotated[list[str], Query()] = [], number: float = 0, flag: bool = False,
          date: str | None = None):
    return {"text": text, "many": many, "number": number, "flag": flag, "date": date}


@app.get("/raw_query", operation_id="raw_query")
def raw_query(request: Request):
    return {"pairs": request.query_params.multi_items(), "raw": request.scope["query_string"].decode()}


@app.get("/header", operation_id="header")
def header(x_text: Annotated[str, Header()], x_many: Annotated[list[str] | None, Header()] = None):
    return {"text": x_text, "many": x_many}


@app.get("/cookie", operation_id="cookie")
def cookie(one: Annotated[str, Cookie()], two: Annotated[str, Cookie()]):
    return {"one": one, "two": two}


@app.post("/item/{id}", operation_id="item")
def item(id: Annotated[int, Path()], it: Item, q: str = ""):
    return {"id": id, "q": q, "item": it.model_dump()}


@app.put("/many", operation_id="many")
def many(items: Annotated[list[Item], Body()]):
    return [i.name for i in items]


@app.delete("/gone/{id}", operation_id="gone", status_code=204)
def gone(id: str):
    return Response(status_code=204)


@app.patch("/form", operation_id="form")
def form(text: Annotated[str, Form()], number: Annotated[int, Form()], many: Annotated[list[str], Form()] = []):
    return {"text": text, "number": number, "many": many}


@app.post("/upload", operation_id="upload")
async def upload(file: UploadFile, note: Annotated[str, Form()], more: Annotated[list[UploadFile], File()] = []):
    body = await file.read()
    return {"name": file.filename, "type": file.content_type, "bytes": len(body),
            "sum": sum(body) % 65521, "note": note, "more": [[m.filename, (await m.read()).decode()] for m in more]}


@app.post("/text", operation_id="text")
async def text(request: Request):
    return {"type": request.headers["content-type"], "body": (await request.body()).decode()}


@app.get("/status/{code}", operation_id="status")
def status(code: int):
    raise HTTPException(code, "as asked")


@app.get("/image", operation_id="image")
def image():
    return Response(b"\x89PNG\r\n\x1a\n" + bytes(range(256)), media_type="image/png")


@app.get("/latin", operation_id="latin")
def latin():
    return Response("é".encode("latin-1"), media_type="text/plain; charset=iso-8859-1")


@app.get("/huge", operation_id="huge")
def huge(size: int):
    block = bytes(range(97, 113)) * 4096

    def blocks():
        for _ in range(size // len(block)):
            yield block
    return StreamingResponse(blocks(), media_type="text/plain")


@app.get("/items", operation_id="items")
def items(count: int):
    return {"total": count, "items": [{"id": i, "name": f"item {i}"} for i in range(count)], "next": "n"}


@app.get("/endless", operation_id="endless")
async def endless():
    async def blocks():
        while True:
            yield b"again and again\n" * 64
            await asyncio.sleep(0.001)
    return StreamingResponse(blocks(), media_type="text/plain")


@app.get("/drip", operation_id="drip")
async def drip():
    async def blocks():
        for i in range(100):
            yield b"%d\n" % i
            await asyncio.sleep(0.05)
    return StreamingResponse(blocks(), media_type="text/plain")


@app.get("/slow", operation_id="slow")
async def slow():
    await asyncio.sleep(20)
    return "late"


@app.get("/cut", operation_id="cut")
async def cut():
    async def blocks():
        yield b"half"
        raise RuntimeError("the answer breaks off")
    return StreamingResponse(blocks(), media_type="text/plain", headers={"Content-Length": "100"})


@app.get("/moved", operation_id="moved")
def moved():
    return Response(status_code=307, headers={"Location": "/path/a/1"})


for name, scheme in (("key_header", APIKeyHeader(name="X-Key", scheme_name="KH")),
                     ("key_query", APIKeyQuery(name="key", scheme_name="KQ")),
                     ("key_cookie", APIKeyCookie(name="sid", scheme_name="KC"))):
    @app.get(f"/{name}", operation_id=name)
    def keyed(key: Annotated[str, Depends(scheme)]):
        return {"key": key[::-1]}


@app.get("/basic", operation_id="basic")
def basic(who: Annotated[object, Depends(HTTPBasic(scheme_name="HB"))]):
    return {"user": who.username, "password": who.password[::-1]}


@app.get("/bearer", operation_id="bearer")
def bearer(who: Annotated[object, Depends(HTTPBearer(scheme_name="BT"))]):
    return {"token": who.credentials[::-1]}


client = OAuth2(scheme_name="OA", flows={"clientCredentials": {"tokenUrl": "", "scopes": {"read": "r"}}})


@app.get("/oauth", operation_id="oauth")
def oauth(token: Annotated[str, Depends(client)]):
    if token.removeprefix("Bearer ") in state["revoked"]:
        raise HTTPException(401, "revoked")
    return {"token": token[::-1]}


@app.post("/token", include_in_schema=False)
async def token(request: Request):
    who = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
    if who != "me:s%26cret-client":
        return Response('{"error":"invalid_client"}', 401)
    state["tokens"] += 1
    return {"access_token": f"token-of-server-{state['tokens']}", "token_type": "bearer", "expires_in": 600}


def document():
    """FastAPI's own, but for styles that its functions cannot declare."""
    if app.openapi_schema is None:
        doc = get_openapi(title="calls", version="1", routes=app.routes)
        doc["servers"] = [{"url": "/"}]
        get = doc["paths"]["/styled/{a}/{b}/{c}/{d}"]["get"]
        for p, style, explode in zip(get["parameters"], ("simple", "label", "matrix", "matrix"),
                                     (False, True, False, True)):
            p.update(style=style, explode=explode, schema={})
        doc["paths"]["/raw_query"]["get"]["parameters"] = [
            {"name": "space", "in": "query", "style": "spaceDelimited", "explode": False, "schema": {}},
            {"name": "pipe", "in": "query", "style": "pipeDelimited", "explode": False, "schema": {}},
            {"name": "form", "in": "query", "style": "form", "explode": False, "schema": {}},
            {"name": "object", "in": "query", "schema": {}},
            {"name": "deep", "in": "query", "style": "deepObject", "explode": True, "schema": {}},
            {"name": "json", "in": "query", "content": {"application/json": {"schema": {}}}},
            {"name": "url", "in": "query", "allowReserved": True, "schema": {}}]
        doc["paths"]["/text"]["post"]["requestBody"] = {
            "content": {"text/markdown": {"schema": {"type": "string"}}}}
        flows = doc["components"]["securitySchemes"]["OA"]["flows"]
        flows["clientCredentials"]["tokenUrl"] = f"http://127.0.0.1:{state['port']}/token"
        doc["paths"]["/oauth"]["get"]["security"] = [{"OA": ["read"]}]
        app.openapi_schema = doc
    return app.openapi_schema


app.openapi = document


class Caller:
    def __init__(self, program, *settings):
        self.process = subprocess.Popen([program, f"http://127.0.0.1:{state['port']}/openapi.json", *settings],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def call(self, name, arguments, abort_ms=None):
        before = f"abort {abort_ms} " if abort_ms else ""
        return self.line(f"{before}{name}\t{json.dumps(arguments, ensure_ascii=False)}")

    def end(self):
        out, _ = self.process.communicate()
        return json.loads(out), self.process.returncode


def check(what, got, want):
    global passed, failed
    if got == want:
        passed += 1
    else:
        failed += 1
        print(f"calls: {what}: {got!r}, should be {want!r}")


def body(result):
    """The JSON of an answer."""
    try:
        return json.loads(result["text"].partition("\n\n")[2])
    except ValueError:
        return result["text"]


def parameters(c):
    odd = "a/b c?d=e&f#g%h+é\"<>'.."
    check("path", body(c.call("path", {"text": "x;y,z é", "number": -5})), {"text": "x;y,z é", "number": -5})
    check("path with a slash", body(c.call("path", {"text": "a/b", "number": 1})), {"detail": "Not Found"})
    check("styles of paths", body(c.call("styled", {"a": ["x", "y z"], "b": ["p", "q"], "c": {"R": 1, "G": 2},
                                                    "d": ["m", "n"]})),
          {"raw": "/styled/x,y%20z/.p.q/;c=R,1,G,2/;d=m;d=n"})
    check("query", body(c.call("query", {"text": odd, "many": [odd, "", "b"], "number": 2.5, "flag": True})),
          {"text": odd, "many": [odd, "", "b"], "number": 2.5, "flag": True, "date": None})
    got = body(c.call("raw_query", {"space": ["a", "b"], "pipe": ["c", "d"], "form": ["e,f", "g"],
                                    "object": {"h": 1, "i": "j k"}, "deep": {"l": {"m": [1, odd]}},
                                    "json": {"n": [odd]}, "url": "http://x/y?z"}))
    check("styles of queries", got["pairs"],
          [["space", "a b"], ["pipe", "c|d"], ["form", "e,f,g"], ["h", "1"], ["i", "j k"], ["deep[l][m][0]", "1"],
           ["deep[l][m][1]", odd], ["json", '{"n":[' + json.dumps(odd, ensure_ascii=False) + "]}"],
           ["url", "http://x/y?z"]])
    check("header", body(c.call("header", {"x-text": "a b; c=d", "x-many": ["e", "f"]})),
          {"text": "a b; c=d", "many": ["e,f"]})
    check("cookie", body(c.call("cookie", {"one": "a=b&c", "two": "2"})), {"one": "a=b&c", "two": "2"})


def bodies(c, uploads):
    thing = {"name": "ä \"q\" \\ \n", "price": 1.25, "tags": ["a", "b"], "inner": {"x": [None, 9007199254740993]}}
    check("json", body(c.call("item", {"id": 7, "q": "r s", "body": thing})), {"id": 7, "q": "r s", "item": thing})
    check("json array", body(c.call("many", {"body": [thing, dict(thing, name="b")]})), [thing["name"], "b"])
    check("not valid", body(c.call("item", {"id": 7, "body": {"name": "n", "price": 0, "tags": [], "inner": None}}))
          ["item"]["price"], 0)
    check("204", c.call("gone", {"id": "x"})["text"].partition(" \u2192 ")[2], "204 No Content\n\n")
    check("form", body(c.call("form", {"body": {"text": "a b&c=d", "number": 3, "many": ["x", "y z"]}})),
          {"text": "a b&c=d", "number": 3, "many": ["x", "y z"]})
    check("text", body(c.call("text", {"body": "# title\nline é"})), {"type": "text/markdown",
                                                                     "body": "# title\nline é"})
    big = bytes(i * 7 % 256 for i in range(3_000_000))
    with open(os.path.join(uploads, "big.bin"), "wb") as file:
        file.write(big)
    with open(os.path.join(uploads, "b.txt"), "w", encoding="utf-8") as file:
        file.write("second")
    check("multipart", body(c.call("upload", {"body": {"file": {"path": "big.bin"}, "note": "n ü",
                                                       "more": [{"path": "b.txt", "filename": "c d ü.txt"}, "inline"]}})),
          {"name": "big.bin", "type": "application/octet-stream", "bytes": len(big), "sum": sum(big) % 65521,
           "note": "n ü", "more": [["c d ü.txt", "second"], ["more", "inline"]]})


def answers(c, responses):
    for code, words in ((400, "Bad Request"), (404, "Not Found"), (500, "Internal Server Error")):
        got = c.call("status", {"code": code})
        check(f"status {code}", (got["is_error"], got["text"].partition(" \u2192 ")[2]),
              (False, f"{code} {words}\n\n" + '{"detail":"as asked"}'))
    png = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    check("image", base64.b64decode(c.call("image", {})["image"]), png)
    check("charset", c.call("latin", {})["text"].partition("\n\n")[2], "é")
    check("redirect", c.call("moved", {})["text"].partition(" \u2192 ")[2], "307 Temporary Redirect\n\n")
    shown = c.call("items", {"count": 20000})["text"].partition("\n\n")[2].partition("\n... [truncated]")
    shown = json.loads(shown[0])
    check("json, cut", (shown["total"], shown["items"][5], shown["items"][-1][:4]),
          (20000, {"id": 5, "name": "item 5"}, "... "))
    text = c.call("huge", {"size": 100_000_000})["text"]
    path = text.rpartition(" bytes: ")[2].rstrip("]")
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    check("100 MB in a file", (size, os.path.dirname(path)), (100_000_000 // 65536 * 65536, responses))


def ends(c):
    got = c.call("cut", {})
    check("cut", (got["is_error"], got["text"][:26]), (True, "Error: HTTP request failed"))
    check("slow", c.call("slow", {})["text"],
          "Error: HTTP request failed: the answer was not whole after 1500 ms")
    check("drip", c.call("drip", {})["text"],
          "Error: HTTP request failed: the answer was not whole after 1500 ms")
    check("endless", c.call("endless", {})["text"].endswith("again\n\n... [truncated]") or
          "[truncated]" in c.call("endless", {})["text"], True)
    check("aborted", c.call("drip", {}, 200)["text"], "Cancelled")
    check("and again", body(c.call("path", {"text": "x", "number": 1})), {"text": "x", "number": 1})


def credentials(program):
    c = Caller(program, "key.KH=header-key-1", "key.KQ=query&key=1", "key.KC=cookie-key-1", "user=me", "password=p:w",
               "bearer=bearer-token-1")
    for name, key in (("key_header", "header-key-1"), ("key_query", "query&key=1"), ("key_cookie", "cookie-key-1")):
        check(name, body(c.call(name, {})), {"key": key[::-1]})
    check("basic", body(c.call("basic", {})), {"user": "me", "password": "w:p"})
    check("bearer", body(c.call("bearer", {})), {"token": "bearer-token-1"[::-1]})
    c.end()
    c = Caller(program, "client_id=me", "client_secret=s&cret-client")
    one = "Bearer token-of-server-1"
    check("oauth", body(c.call("oauth", {})), {"token": one[::-1]})
    check("oauth, kept", body(c.call("oauth", {})), {"token": one[::-1]})
    state["revoked"].add("token-of-server-1")
    check("oauth, renewed", body(c.call("oauth", {})), {"token": "Bearer token-of-server-2"[::-1]})
    check("tokens", state["tokens"], 2)
    c.end()
    c = Caller(program, "client_id=me", "client_secret=wrong")
    check("oauth, refused", c.call("oauth", {})["text"],
          "Error: HTTP request failed: the token server answered 401: invalid_client")
    c.end()


def main():
    program = os.path.abspath(sys.argv[1])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    state["port"] = server.servers[0].sockets[0].getsockname()[1]
    with tempfile.TemporaryDirectory() as uploads, tempfile.TemporaryDirectory() as responses:
        c = Caller(program, f"uploads={uploads}", f"responses={responses}")
        parameters(c)
        bodies(c, uploads)
        answers(c, responses)
        said, code = c.end()
        check("exit code", code, 0)
        check("skips", said["skips"], 0)
        print(f"calls: {said['tools']} tools; longest step {said['longest_us']} us of CPU, "
              f"most memory {said['peak']} bytes")
        c = Caller(program, "timeout_ms=1500")
        ends(c)
        check("exit code after ends", c.end()[1], 0)
        credentials(program)
    server.should_exit = True
    thread.join(5)
    print(f"calls: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
