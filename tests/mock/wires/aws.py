"""What Bedrock needs of AWS: signatures (version 4) verified, and frames of the event stream."""

import datetime
import hashlib
import hmac
import re
import struct
import zlib
from urllib.parse import quote

from .base import Refusal

SECRETS = {"AKIDEXAMPLE": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
SESSION = "SESSION/TOKEN+EXAMPLE=="
UNSIGNED = {"authorization", "connection", "expect", "user-agent", "transfer-encoding", "te",
            "trailer", "upgrade", "x-amzn-trace-id"}
AUTHORIZATION = re.compile(r"^AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([a-z0-9-]+)/([a-z0-9-]+)"
                           r"/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$")
MISMATCH = "The request signature we calculated does not match the signature you provided. Check " \
    "your AWS Secret Access Key and signing method. Consult the service documentation for details."


def denied(kind, message):
    raise Refusal(403, kind, message)


# ---- signatures ----


def canonical_request(method, raw_path, query, headers, signed, body_hash):
    """Each segment of the path is encoded once more than it is on the wire."""
    lines = [method, quote(raw_path, safe="/-_.~"), query]
    lines += ["%s:%s" % (n, " ".join(headers[n].split())) for n in signed]
    return "\n".join(lines + ["", ";".join(signed), body_hash])


def signature(secret, stamp, region, service, canonical):
    date = stamp[:8]
    scope = "/".join((date, region, service, "aws4_request"))
    text = "\n".join(("AWS4-HMAC-SHA256", stamp, scope,
                      hashlib.sha256(canonical.encode()).hexdigest()))
    key = ("AWS4" + secret).encode()
    for word in (date, region, service, "aws4_request", text):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return key.hex()


def verify(method, raw_path, query, headers, body, now=None):
    """Raises Refusal unless the Authorization header is a signature of this very request."""
    headers = {k.lower(): v for k, v in headers.items()}
    match = AUTHORIZATION.match(headers.get("authorization", ""))
    if not match:
        denied("IncompleteSignatureException",
               "Authorization header requires 'Credential', 'Signature' and 'SignedHeaders' "
               "parameters. Authorization=" + headers.get("authorization", "")[:40])
    key_id, date, region, service, names, given = match.groups()
    signed, stamp = names.split(";"), headers.get("x-amz-date", "")
    if not re.match(r"^\d{8}T\d{6}Z$", stamp):
        denied("IncompleteSignatureException",
               "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.")
    if key_id not in SECRETS:
        denied("UnrecognizedClientException",
               "The security token included in the request is invalid.")
    token = headers.get("x-amz-security-token", SESSION)
    if token == "expired":
        denied("ExpiredTokenException", "The security token included in the request is expired")
    if token != SESSION:
        denied("UnrecognizedClientException",
               "The security token included in the request is invalid.")
    if service != "bedrock":
        denied("InvalidSignatureException",
               "Credential should be scoped to correct service: 'bedrock'. ")
    if stamp[:8] != date:
        denied("InvalidSignatureException", "Date in Credential scope does not match YYYYMMDD from "
               "ISO-8601 version of date from HTTP: '%s' != '%s'." % (date, stamp[:8]))
    on_time(stamp, now)
    wanted = {"host"} | {n for n in headers if n.startswith("x-amz-") and n not in UNSIGNED}
    for name in sorted(wanted - set(signed)):
        denied("InvalidSignatureException",
               "'%s' must be a 'SignedHeader' in the AWS Authorization." % name)
    if signed != sorted(signed) or UNSIGNED & set(signed) or not set(signed) <= set(headers):
        denied("InvalidSignatureException", MISMATCH)
    body_hash = hashlib.sha256(body).hexdigest()
    if headers.get("x-amz-content-sha256", body_hash) != body_hash:
        denied("InvalidSignatureException", MISMATCH)
    canonical = canonical_request(method, raw_path, query, headers, signed, body_hash)
    wants = signature(SECRETS[key_id], stamp, region, service, canonical)
    if not hmac.compare_digest(wants, given):
        denied("InvalidSignatureException",
               MISMATCH + "\n\nThe Canonical String for this request should have been\n'%s'"
               % canonical)


def on_time(stamp, now):
    """A clock more than five minutes off is refused."""
    now = now or datetime.datetime.utcnow()
    when = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ")
    if abs((now - when).total_seconds()) > 300:
        word = "expired" if when < now else "not yet current"
        denied("InvalidSignatureException", "Signature %s: %s is now %s than %s" %
               (word, stamp, "earlier" if when < now else "later", now.strftime("%Y%m%dT%H%M%SZ")))


# ---- frames ----


def frame(headers, payload):
    """One message of an event stream; all headers are strings."""
    head = b""
    for name, value in headers.items():
        value = value.encode("utf-8")
        head += struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value))
        head += value
    prelude = struct.pack("!II", len(head) + len(payload) + 16, len(head))
    data = prelude + struct.pack("!I", zlib.crc32(prelude)) + head + payload
    return data + struct.pack("!I", zlib.crc32(data))


def read_frames(data):
    """[(headers, payload)] of whole frames; ValueError for a wrong check."""
    out = []
    while len(data) >= 12:
        total, size, check = struct.unpack("!III", data[:12])
        if zlib.crc32(data[:8]) != check:
            raise ValueError("prelude check")
        if len(data) < total:
            break
        if zlib.crc32(data[:total - 4]) != struct.unpack("!I", data[total - 4:total])[0]:
            raise ValueError("message check")
        headers, at = {}, 12
        while at < 12 + size:
            end = at + 1 + data[at]
            length = struct.unpack("!BH", data[end:end + 3])[1]
            headers[data[at + 1:end].decode()] = data[end + 3:end + 3 + length].decode()
            at = end + 3 + length
        out.append((headers, data[12 + size:total - 4]))
        data = data[total:]
    return out
