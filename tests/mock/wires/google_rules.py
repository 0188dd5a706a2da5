"""What Gemini refuses, in its own words, and what Vertex refuses besides.

Models named gemini-1* and gemini-2* are the older ones: no ids, no levels of thinking. Those named
gemini-3* and later want the signature of each call of the current turn. Of all others (scenario
names) only what is the mock's own making is checked.
"""

import base64
import binascii
import re

from .anthropic_rules import sign
from .base import Refusal, image_fault, media_fault, is_int, is_number

TOP_FIELDS = {
    "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings",
    "cachedContent", "labels"
}
CONFIG_FIELDS = {
    "temperature", "maxOutputTokens", "topP", "topK", "stopSequences", "responseMimeType",
    "responseSchema", "responseJsonSchema", "thinkingConfig", "candidateCount", "seed",
    "presencePenalty", "frequencyPenalty", "mediaResolution"
}
DATA = ("text", "inlineData", "fileData", "functionCall", "functionResponse")
PART_FIELDS = set(DATA) | {"thought", "thoughtSignature"}
SCHEMA_FIELDS = {
    "type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems",
    "properties", "required", "propertyOrdering", "minProperties", "maxProperties", "minimum",
    "maximum", "minLength", "maxLength", "pattern", "example", "anyOf", "default"
}
MODES = ("AUTO", "ANY", "NONE", "VALIDATED")
LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH")
SKIP = "skip_thought_signature_validator"


def refuse(message, *args):
    raise Refusal(400, "INVALID_ARGUMENT", message % args if args else message)


def snake(path):
    return re.sub(r"[A-Z]", lambda m: "_" + m.group(0).lower(), path)


def extra(value, allowed, where):
    if not isinstance(value, dict):
        refuse("Invalid value at '%s', Starting an object on a scalar field", snake(where))
    for key in value:
        if key not in allowed:
            at = " at '%s'" % snake(where) if where else ""
            refuse("Invalid JSON payload received. Unknown name \"%s\"%s: Cannot find field.", key,
                   at)


def many(value, where):
    if not isinstance(value, list):
        refuse("Invalid value at '%s', expected a list", snake(where))
    return value


class Checker:
    def __init__(self, body, model, vertex):
        self.body, self.model, self.vertex = body, model, vertex
        self.older = bool(re.match(r"gemini-[12]", model))
        self.signed = bool(re.match(r"gemini-[3-9]", model))

    def top(self):
        body = self.body
        extra(body, TOP_FIELDS, "")
        if not body.get("contents"):
            refuse("* GenerateContentRequest.contents: contents is not specified\n")
        if "systemInstruction" in body:
            extra(body["systemInstruction"], {"role", "parts"}, "systemInstruction")
            self.parts(body["systemInstruction"], "systemInstruction", None)
        names = self.tools()
        self.choice(names)
        self.config()
        self.contents(many(body["contents"], "contents"))

    # ---- tools ----

    def tools(self):
        names = []
        for i, tool in enumerate(many(self.body.get("tools", []), "tools")):
            where = "tools[%d]" % i
            extra(tool, {"functionDeclarations", "googleSearch", "codeExecution", "urlContext"},
                  where)
            declarations = tool.get("functionDeclarations", [])
            for j, given in enumerate(many(declarations, where + ".functionDeclarations")):
                self.declaration(given, "%s.functionDeclarations[%d]" % (where, j))
                if given["name"] in names:
                    refuse("Duplicate function declaration found: %s", given["name"])
                names.append(given["name"])
        return names

    def declaration(self, given, where):
        extra(given, {"name", "description", "parameters", "parametersJsonSchema", "response",
                      "behavior"}, where)
        name = given.get("name")
        if not isinstance(name, str) or not re.match(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$", name):
            refuse("* GenerateContentRequest.%s.name: [FIELD_INVALID] Invalid function name. Must "
                   "start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), "
                   "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of "
                   "128.\n", snake(where))
        if "parameters" in given and "parametersJsonSchema" in given:
            refuse("%s: only one of parameters and parameters_json_schema may be set", snake(where))
        if "parameters" in given:
            self.schema(given["parameters"], where + ".parameters")
        schema = given.get("parametersJsonSchema")
        if schema is not None and (not isinstance(schema, dict) or schema.get("type") != "object"):
            refuse("* GenerateContentRequest.%s.parameters_json_schema: schema must be of type "
                   "object\n", snake(where))

    def schema(self, schema, where):
        extra(schema, SCHEMA_FIELDS, where)
        kind = str(schema.get("type", "")).upper()
        if kind == "OBJECT" and not schema.get("properties"):
            refuse("* GenerateContentRequest.%s.properties: should be non-empty for OBJECT type\n",
                   snake(where))
        if kind == "ARRAY" and "items" not in schema:
            refuse("* GenerateContentRequest.%s.items: missing field.\n", snake(where))
        for key, value in (schema.get("properties") or {}).items():
            self.schema(value, "%s.properties[%s]" % (where, key))
        if "items" in schema:
            self.schema(schema["items"], where + ".items")

    def choice(self, names):
        given = self.body.get("toolConfig")
        if given is None:
            return
        extra(given, {"functionCallingConfig", "retrievalConfig"}, "toolConfig")
        calling = given.get("functionCallingConfig", {})
        where = "toolConfig.functionCallingConfig"
        extra(calling, {"mode", "allowedFunctionNames", "streamFunctionCallArguments"}, where)
        mode = calling.get("mode", "AUTO")
        if mode not in MODES:
            refuse("Invalid value at '%s.mode' (type.googleapis.com/google.ai.generativelanguage."
                   "v1beta.FunctionCallingConfig.Mode), \"%s\"", snake(where), mode)
        if mode == "ANY" and not names:
            refuse("Function calling config is set without function_declarations.")
        allowed = calling.get("allowedFunctionNames")
        if allowed and mode not in ("ANY", "VALIDATED"):
            refuse("Allowed function names should be set only when function calling mode is ANY.")
        for name in allowed or []:
            if name not in names:
                refuse("* GenerateContentRequest.%s.allowed_function_names: %s is not in "
                       "function_declarations\n", snake(where), name)

    # ---- settings ----

    def config(self):
        given = self.body.get("generationConfig", {})
        extra(given, CONFIG_FIELDS, "generationConfig")
        for field, low, high in (("maxOutputTokens", 1, 65536), ("temperature", 0, 2), ("topP", 0,
                                                                                        1)):
            value = given.get(field)
            if value is None:
                continue
            if not is_number(value) or (field == "maxOutputTokens" and not is_int(value)):
                refuse("Invalid value at 'generation_config.%s', %s", snake(field), repr(value))
            if not low <= value <= high:
                refuse("Unable to submit request because it has a %s value of %s but the supported "
                       "range is from %s (inclusive) to %s (inclusive). Update the value and try "
                       "again.", field, value, low, high)
        mime = given.get("responseMimeType")
        if mime not in (None, "text/plain", "application/json", "text/x.enum"):
            refuse("* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes "
                   "are `text/plain`, `application/json`, `application/xml`, `application/yaml` and "
                   "`text/x.enum`.\n")
        if mime == "application/json" and self.body.get("tools") and self.older:
            refuse("Function calling with a response mime type: 'application/json' is unsupported")
        schemas = [f for f in ("responseSchema", "responseJsonSchema") if f in given]
        if len(schemas) > 1 or (schemas and mime != "application/json"):
            refuse("* GenerateContentRequest.generation_config.%s: only allowed once, and with the "
                   "response mime type application/json\n", snake(schemas[0]))
        if not isinstance(given.get("responseJsonSchema", {}), dict):
            refuse("Invalid value at 'generation_config.response_json_schema'")
        if "responseSchema" in given:
            self.schema(given["responseSchema"], "generationConfig.responseSchema")
        thinking = given.get("thinkingConfig")
        if thinking is None:
            return
        extra(thinking, {"includeThoughts", "thinkingBudget", "thinkingLevel"},
              "generationConfig.thinkingConfig")
        budget, level = thinking.get("thinkingBudget"), thinking.get("thinkingLevel")
        if budget is not None and level is not None:
            refuse("You can only set only one of thinking budget and thinking level.")
        if level is not None:
            if self.older:
                refuse("Thinking level is not supported for this model.")
            if level not in LEVELS:
                refuse("Invalid value at 'generation_config.thinking_config.thinking_level' "
                       "(type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig."
                       "ThinkingLevel), \"%s\"", level)
        if budget is not None:
            self.budget(budget)

    def budget(self, budget):
        pro, lite = "pro" in self.model, "lite" in self.model
        low, high = (128, 32768) if pro else (512 if lite else 0, 24576)
        if not is_int(budget):
            refuse("Invalid value at 'generation_config.thinking_config.thinking_budget' "
                   "(TYPE_INT32), %s", repr(budget))
        if pro and budget == 0 and not self.vertex:
            refuse("Budget 0 is invalid. This model only works in thinking mode.")
        if budget != -1 and not low <= budget <= high and not (budget == 0 and not pro):
            refuse("The thinking budget %d is invalid. Please choose a value between %d and %d.",
                   budget, low, high)

    # ---- the conversation ----

    def contents(self, contents):
        calls, before = None, None  # those of the content before
        turn = 0  # where the current turn begins: at the last words of the user
        for i, content in enumerate(contents):
            if isinstance(content, dict) and content.get("role", "user") == "user" and any(
                    "text" in p for p in content.get("parts") or [] if isinstance(p, dict)):
                turn = i
        for i, content in enumerate(contents):
            where = "contents[%d]" % i
            extra(content, {"role", "parts"}, where)
            role = content.get("role", None if self.vertex else "user")
            if role not in ("user", "model"):
                refuse("Please use a valid role: user, model.")
            self.parts(content, where, role)
            found = [p["functionCall"] for p in content["parts"] if "functionCall" in p]
            results = [p["functionResponse"] for p in content["parts"] if "functionResponse" in p]
            if calls is None and results:
                refuse("Please ensure that function response turn comes immediately after a "
                       "function call turn.")
            if calls is not None:
                self.pair(calls, results, where)
            if found and before != "user":
                refuse("Please ensure that function call turn comes immediately after a user turn "
                       "or after a function response turn.")
            if found and self.signed and i > turn:
                self.wants_signature(content["parts"], i)
            calls, before = found or None, role
        if calls or before != "user":
            refuse("Please ensure that multiturn requests end with a user role or a function "
                   "response.")

    def pair(self, calls, results, where):
        if len(calls) != len(results):
            refuse("Please ensure that the number of function response parts is equal to the number "
                   "of function call parts of the function call turn.")
        waiting = [(c.get("id"), c["name"]) for c in calls]
        for result in results:
            key = (result.get("id"), result["name"])
            if key not in waiting:
                refuse("%s: function response \"%s\" (id %s) answers no function call of the turn "
                       "before.", where, key[1], key[0])
            waiting.remove(key)

    def wants_signature(self, parts, position):
        first = next(p for p in parts if "functionCall" in p)
        if not first.get("thoughtSignature"):
            refuse("Function call is missing a thought_signature in functionCall parts. This is "
                   "required for tools to work correctly, and missing thought_signature may lead "
                   "to degraded model performance. Additional data, function call `default_api:%s` "
                   ", position %d. Please refer to "
                   "https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
                   first["functionCall"]["name"], position + 1)

    def parts(self, content, where, role):
        parts = content.get("parts")
        if not parts:
            refuse("* GenerateContentRequest.%s.parts: contents.parts must not be empty.\n",
                   snake(where))
        for j, part in enumerate(many(parts, where + ".parts")):
            self.part(part, "%s.parts[%d]" % (where, j), role)

    def part(self, part, where, role):
        extra(part, PART_FIELDS, where)
        kinds = [k for k in part if k in DATA]
        if len(kinds) > 1:
            refuse("Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set "
                   "'%s'", snake(where), kinds[1])
        if not kinds:
            refuse("* GenerateContentRequest.%s.data: required oneof field 'data' must have one "
                   "initialized field\n", snake(where))
        kind, value = kinds[0], part[kinds[0]]
        signature = part.get("thoughtSignature")
        if signature is not None:
            self.signature(part, signature, where)
        if kind == "text":
            if not isinstance(value, str):
                refuse("Invalid value at '%s.text' (TYPE_STRING), %s", snake(where), repr(value))
            if not value and not signature:
                refuse("Unable to submit request because it has an empty text parameter. Add a "
                       "value to the parameter and try again.")
        elif kind == "inlineData":
            self.data(value, where + ".inlineData")
        elif kind == "fileData":
            self.address(value, where + ".fileData")
        elif kind == "functionCall":
            if role != "model":
                refuse("Please ensure that function calls stand in a turn of the model.")
            self.call(value, "args", where + ".functionCall")
        elif kind == "functionResponse":
            if role != "user":
                refuse("Please ensure that function responses stand in a turn of the user.")
            self.call(value, "response", where + ".functionResponse")
            for j, inner in enumerate(value.get("parts", [])):
                if self.older:
                    refuse("Invalid JSON payload received. Unknown name \"parts\" at '%s': Cannot "
                           "find field.", snake(where + ".functionResponse"))
                inner_where = "%s.functionResponse.parts[%d]" % (where, j)
                extra(inner, {"inlineData", "fileData"}, inner_where)
                if "fileData" in inner:
                    self.address(inner["fileData"], inner_where + ".fileData")
                else:
                    self.data(inner.get("inlineData"), inner_where + ".inlineData", True)

    def signature(self, part, signature, where):
        try:
            if signature != SKIP:
                base64.b64decode(signature, validate=True)
        except (binascii.Error, ValueError, TypeError):
            refuse("Invalid value at '%s.thought_signature' (TYPE_BYTES), Base64 decoding failed "
                   "for \"%s\"", snake(where), signature)
        own = "call " + str(part["functionCall"].get("name")) if "functionCall" in part else "text"
        if str(signature).startswith("bW9jay") and signature != sign(own):
            refuse("Corrupted thought signature.")

    def call(self, value, payload, where):
        allowed = {"name", "id", payload} | ({"parts", "willContinue", "scheduling"}
                                             if payload == "response" else set())
        extra(value, allowed - ({"id"} if self.older and self.vertex else set()), where)
        if not isinstance(value.get("name"), str) or not value["name"]:
            refuse("* GenerateContentRequest.%s.name: Name cannot be empty.\n", snake(where))
        if payload == "response" and payload not in value:
            refuse("* GenerateContentRequest.%s.response: required field missing\n", snake(where))
        if not isinstance(value.get(payload, {}), dict):
            refuse("Invalid value at '%s.%s' (type.googleapis.com/google.protobuf.Struct), %s",
                   snake(where), payload, repr(value[payload]))

    def titles(self):
        return {"displayName"} if self.vertex else set()

    def address(self, value, where):
        extra(value, {"mimeType", "fileUri"} | self.titles(), where)
        if not str(value.get("fileUri", "")).startswith(("https://", "gs://")):
            refuse("Invalid or unsupported file uri: %s", value.get("fileUri"))
        if not value.get("mimeType"):
            refuse("* GenerateContentRequest.%s.mime_type: required field missing\n", snake(where))

    def data(self, value, where, of_function=False):
        """Images, PDFs, text, audio; a function's response holds no audio."""
        kind = str((value or {}).get("mimeType"))
        heard = kind.startswith("audio/") and not of_function
        if kind != "application/pdf" and not kind.startswith("text/") and not heard:
            self.image(value, where)
            return
        extra(value, {"mimeType", "data"} | self.titles(), where)
        fault = media_fault(kind, value.get("data"))
        if fault == "invalid base64 data":
            refuse("Invalid value at '%s.data' (TYPE_BYTES), Base64 decoding failed", snake(where))
        if fault:
            refuse("The document has no pages." if kind == "application/pdf" else
                   "Request contains an invalid argument.")

    def image(self, value, where):
        extra(value, {"mimeType", "data"} | self.titles(), where)
        fault = image_fault(value.get("mimeType"), value.get("data"))
        if fault == "invalid base64 data":
            refuse("Invalid value at '%s.data' (TYPE_BYTES), Base64 decoding failed", snake(where))
        if fault and fault.startswith("Input should be"):
            refuse("Unsupported MIME type: %s", value.get("mimeType"))
        if fault:
            refuse("Unable to process input image. Please retry or report in "
                   "https://developers.generativeai.google/guide/troubleshooting")
