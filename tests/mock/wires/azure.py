"""Azure OpenAI: the Responses protocol behind Azure's own gate, with its keys and its errors."""

from .base import Refusal
from .openai_chat_rules import refuse
from .openai_responses import OpenAIResponses

GATE = {
    401: ("401", "Access denied due to invalid subscription key or wrong API endpoint. Make sure "
          "to provide a valid key for an active subscription and use a correct regional API "
          "endpoint for your resource."),
    404: ("DeploymentNotFound", "The API deployment for this resource does not exist. If you "
          "created the deployment within the last 5 minutes, please wait a moment and try again."),
    429: ("429", "Requests have exceeded the call rate limit of your current pricing tier. Please "
          "retry after 7 seconds."),
    503: ("ServiceUnavailable", "The service is temporarily unable to process your request.")
}


class Azure(OpenAIResponses):
    name = "azure-responses"

    def owns(self, path):
        return path.endswith("/responses") and "/openai/" in path

    def check(self, asked, behaviour):
        if "/deployments/" in asked.path:
            raise Refusal(404, "gate", "Resource not found", None, "404")
        if not asked.path.endswith("/openai/v1/responses"):
            version = asked.query.get("api-version")
            if not version:
                raise Refusal(404, "gate", "Resource not found", None, "404")
            if version not in ("preview", "v1", "latest") and version < "2025-03-01":
                refuse("Azure OpenAI Responses API is enabled only for api-version "
                       "2025-03-01-preview and later", None, "BadRequest")
        return super().check(asked, behaviour)

    def check_headers(self, headers, behaviour):
        bearer = headers.get("authorization", "")
        key = headers.get("api-key") or (bearer[7:].strip() if bearer.startswith("Bearer ") else "")
        if (not key and not behaviour.has("no-key")) or key == "bad-key":
            raise self.refusal_for_status(401)
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            refuse("Unsupported media type: expected application/json", status=415)

    def error_body(self, refusal, request_id):
        if refusal.kind == "gate":
            return {"error": {"code": refusal.code, "message": refusal.message}}
        return super().error_body(refusal, request_id)

    def refusal_for_status(self, status):
        if status in GATE:
            code, message = GATE[status]
            return Refusal(status, "gate", message, None, code)
        return super().refusal_for_status(status)

    def headers(self, request_id):
        return dict(super().headers(request_id), **{"apim-request-id": request_id})


WIRE = Azure()
