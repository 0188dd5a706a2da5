"""Vertex AI: Gemini under a project and a location, with access tokens; usage comes at the end."""

import re

from .base import Refusal
from .google import Google



class Vertex(Google):
    name = "vertex"
    vertex = True
    path = re.compile(r".*/v1(?:beta1)?/(?:projects/[^/]+/locations/[a-z0-9-]+/)?publishers/google/"
                      r"models/([^/:]+):(streamGenerateContent|generateContent)$")

    def authenticate(self, asked, behaviour):
        bearer = asked.headers.get("authorization", "")
        key = bearer[7:].strip() if bearer.startswith("Bearer ") else ""
        if "/projects/" not in asked.path:  # express mode
            key = asked.headers.get("x-goog-api-key", "")
        if not key and not behaviour.has("no-key"):
            raise Refusal(401, "UNAUTHENTICATED",
                          "Request is missing required authentication credential. Expected OAuth 2 "
                          "access token, login cookie or other valid authentication credential. "
                          "See https://developers.google.com/identity/sign-in/web/devconsole-"
                          "project.", None, "CREDENTIALS_MISSING")
        if key == "bad-key":
            refusal = self.refusal_for_status(401)
            refusal.code = "ACCESS_TOKEN_TYPE_UNSUPPORTED"
            raise refusal

    def shell(self, candidate, conversation):
        return dict(super().shell(candidate, conversation),
                    createTime="2026-11-20T10:00:21.000000Z")


WIRE = Vertex()
