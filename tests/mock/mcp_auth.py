#!/usr/bin/python3
"""An MCP server over HTTP that wants an authorization, and its authorization server: see README.md, "MCP".

usage: mcp_auth.py --port 0      prints "listening 127.0.0.1 PORT", ends when its stdin closes

/m/BEHAVIOURS/mcp is the server, BEHAVIOURS joined by +: `plain` (nothing special), `short` (tokens of
two seconds), `amnesia` (the first client is forgotten once it has a token), `scopes` (a tool needs the
scope "write"), `secret` (clients have secrets, sent by client_secret_basic), `deny` (the person says no),
`machine` (no person: the client "robot" with the secret "robot secret" gets tokens by client_credentials).
GET /_problems lists what clients did wrong, and forgets it."""

import argparse
import base64
import hashlib
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

LOCK = threading.Lock()
PROBLEMS = []
PLACES = {}


class Place:
    """What one server and its authorization server know."""

    def __init__(self):
        self.clients, self.codes, self.tokens, self.refresh = {}, {}, {}, {}
        self.dead_refresh, self.count, self.forgot = set(), 0, False


def name(place, kind):
    place.count += 1
    return "%s-%d-%s" % (kind, place.count, base64.urlsafe_b64encode(os.urandom(18)).decode())


def hashed(verifier):
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body=b"", headers=()):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for key, value in headers:
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def problem(self, words):
        PROBLEMS.append(words)

    # ---- where ----

    def origin(self):
        return "http://127.0.0.1:%d" % self.server.server_address[1]

    def enter(self, path):
        """The behaviours and the rest of "/m/BEHAVIOURS/rest"."""
        parts = path.split("/", 3)
        if len(parts) < 4 or parts[1] != "m":
            return None
        self.words = parts[2].split("+")
        self.base = "/m/" + parts[2]
        self.place = PLACES.setdefault(parts[2], Place())
        return parts[3]

    def do_GET(self):
        with LOCK:
            self.get()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with LOCK:
            self.post(body)

    def do_DELETE(self):
        self.reply(405)

    def get(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/_problems":
            self.reply(200, list(PROBLEMS))
            PROBLEMS.clear()
            return
        for known, serve in (("/.well-known/oauth-protected-resource", self.resource),
                             ("/.well-known/oauth-authorization-server", self.metadata)):
            if url.path.startswith(known + "/"):
                rest = self.enter(url.path[len(known):])
                if rest == ("mcp" if serve == self.resource else "as"):
                    serve()
                    return
        if self.enter(url.path) == "as/authorize":
            self.authorize(dict(urllib.parse.parse_qsl(url.query)))
        else:
            self.reply(405 if url.path.endswith("/mcp") else 404)

    def post(self, body):
        rest = self.enter(self.path)
        if rest == "mcp":
            self.mcp(json.loads(body))
        elif rest == "as/register":
            self.register(json.loads(body))
        elif rest == "as/token":
            self.token(dict(urllib.parse.parse_qsl(body.decode())))
        else:
            self.reply(404)

    # ---- metadata ----

    def issuer(self):
        return self.origin() + self.base + "/as"

    def resource(self):
        self.reply(200, {"resource": self.origin() + self.base + "/mcp", "authorization_servers": [self.issuer()],
                         "scopes_supported": ["read"]})

    def metadata(self):
        at = self.issuer()
        if "machine" in self.words:
            self.place.clients["robot"] = {"redirect_uris": [], "secret": "robot secret", "scope": ["read"]}
            self.reply(200, {"issuer": at, "token_endpoint": at + "/token",
                             "grant_types_supported": ["client_credentials"],
                             "token_endpoint_auth_methods_supported": ["client_secret_basic"]})
            return
        self.reply(200, {"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token",
                         "registration_endpoint": at + "/register", "code_challenge_methods_supported": ["S256"],
                         "authorization_response_iss_parameter_supported": True,
                         "scopes_supported": ["read", "write", "offline_access"],
                         "token_endpoint_auth_methods_supported":
                             ["client_secret_basic"] if "secret" in self.words else ["none"]})

    # ---- the authorization server ----

    def register(self, wish):
        for key in ("redirect_uris", "application_type", "client_name", "grant_types"):
            if not wish.get(key):
                self.problem("registration without " + key)
        client = {"redirect_uris": wish["redirect_uris"], "secret": None, "scope": wish.get("scope", "").split()}
        answer = {"client_id": name(self.place, "client")}
        if "secret" in self.words:
            client["secret"] = answer["client_secret"] = name(self.place, "secret")
            if wish["token_endpoint_auth_method"] != "client_secret_basic":
                self.problem("registration with " + wish["token_endpoint_auth_method"])
        self.place.clients[answer["client_id"]] = client
        self.reply(201, answer)

    def authorize(self, query):
        client = self.place.clients.get(query.get("client_id"))
        if client is None or query.get("redirect_uri") not in client["redirect_uris"]:
            self.problem("authorize: unknown client or redirect")
            self.reply(400)
            return
        if query.get("code_challenge_method") != "S256" or len(query.get("code_challenge", "")) != 43:
            self.problem("authorize: no code_challenge of S256")
        if query.get("resource") != self.origin() + self.base + "/mcp":
            self.problem("authorize: another resource: %s" % query.get("resource"))
        if not set(query.get("scope", "").split()) <= set(client["scope"]):
            self.problem("authorize: more scopes than registered")
        back = {"state": query["state"], "iss": self.issuer()}
        if "deny" in self.words:
            back["error"] = "access_denied"
        else:
            back["code"] = name(self.place, "code")
            self.place.codes[back["code"]] = query
        self.reply(302, headers=[("Location", query["redirect_uri"] + "?" + urllib.parse.urlencode(back))])

    def client_of(self, form):
        """The client that proves itself, or None."""
        given = self.headers.get("Authorization", "")
        if given.startswith("Basic "):
            who, secret = map(urllib.parse.unquote, base64.b64decode(given[6:]).decode().split(":"))
        else:
            who, secret = form.get("client_id"), None
        client = self.place.clients.get(who)
        return who if client is not None and client["secret"] == secret else None

    def token(self, form):
        client = self.client_of(form)
        if client is None:
            self.reply(401, {"error": "invalid_client"})
            return
        if form.get("resource") != self.origin() + self.base + "/mcp":
            self.problem("token: another resource")
        if "machine" in self.words:
            if form.get("grant_type") != "client_credentials" or "code" in form or "client_secret" in form:
                self.problem("token: not client_credentials by client_secret_basic alone")
            scope = form.get("scope", "")
        elif form.get("grant_type") == "authorization_code":
            asked = self.place.codes.pop(form.get("code"), None)
            if (asked is None or asked["client_id"] != client or asked["redirect_uri"] != form.get("redirect_uri") or
                    hashed(form.get("code_verifier", "")) != asked["code_challenge"]):
                self.problem("token: a code that does not fit")
                self.reply(400, {"error": "invalid_grant"})
                return
            scope = asked.get("scope", "")
        elif form.get("refresh_token") in self.place.refresh:
            scope = self.place.refresh.pop(form["refresh_token"])  # rotated
            self.place.dead_refresh.add(form["refresh_token"])
        else:
            if form.get("refresh_token") in self.place.dead_refresh:
                self.problem("token: a refresh token was used twice")
            self.reply(400, {"error": "invalid_grant"})
            return
        life = 2 if "short" in self.words else 3600
        answer = {"access_token": name(self.place, "token"), "token_type": "Bearer", "expires_in": life,
                  "scope": scope}
        self.place.tokens[answer["access_token"]] = (scope.split(), time.monotonic() + life)
        if "offline_access" in scope.split():
            answer["refresh_token"] = name(self.place, "refresh")
            self.place.refresh[answer["refresh_token"]] = scope
        if "amnesia" in self.words and not self.place.forgot:
            self.place.forgot = True
            self.place.clients.clear()
            self.place.tokens.clear()
        self.reply(200, answer)

    # ---- the MCP server ----

    def challenge(self, status, words):
        self.reply(status, headers=[("WWW-Authenticate", 'Basic realm="x, y", Bearer %sresource_metadata="%s%s%s/mcp"' % (
            words, self.origin(), "/.well-known/oauth-protected-resource", self.base))])

    def mcp(self, message):
        given = self.headers.get("Authorization", "")
        scopes, until = self.place.tokens.get(given[7:], ([], 0))
        if not given.startswith("Bearer ") or until < time.monotonic():
            self.challenge(401, 'error="invalid_token", ' if given else "")
            return
        method = message.get("method")
        if method == "tools/call" and "scopes" in self.words and "write" not in scopes:
            self.challenge(403, 'error="insufficient_scope", scope="write", ')
            return
        if "id" not in message:
            self.reply(202)
            return
        results = {
            "initialize": lambda: {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                   "serverInfo": {"name": "guarded", "version": "1"}},
            "tools/list": lambda: {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
            "tools/call": lambda: {"content": [{"type": "text", "text": "called"}]}}
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if method in results:
            answer["result"] = results[method]()
        else:
            answer["error"] = {"code": -32601, "message": "no such method"}
        self.reply(200, answer)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that has gone


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    server = Server(("127.0.0.1", parser.parse_args().port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("listening 127.0.0.1 %d" % server.server_address[1], flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
