#!/usr/bin/env python3
"""Names of the vendors' wires that phi has no opinion about.

    vendors.py DIR            the packages in DIR/node_modules against tests/interop/vendors.json;
                              exit code 1 where a name is not listed
    vendors.py --print DIR    the same, and exit code 0: for versions that are not pinned

Read are the TypeScript declarations of the vendors' SDKs: types of blocks, items, parts, events and
deltas, stop reasons, parameters. The list says of each name, by package and section, whether phi
knows it, passes it through as it is (an opaque block, `extra`, a raw tool), or leaves it alone, with
the reason. A name that is in none of the three is printed with its package, version and place.
"""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "tests", "interop", "vendors.json")

MESSAGES = "resources/messages/messages.d.ts"
BETA = "resources/beta/messages/messages.d.ts"
RESPONSES = "resources/responses/responses.d.ts"
CHAT = "resources/chat/completions/completions.d.ts"
GENAI = "dist/genai.d.ts"
AWS = "dist-types/models/models_0.d.ts"
AWS_ENUMS = "dist-types/models/enums.d.ts"

# package -> section -> (file, how, type): `types` are the values of `type` of a union's members
# (`event types`: of `event_type`),
# `members` the fields of an interface, `values` the literals of a union, an enum or a constant,
# `keys` the names of a union of one-member objects, as AWS writes them.
SECTIONS = {
    "@anthropic-ai/sdk": {
        "blocks": [(MESSAGES, "types", "ContentBlock"), (BETA, "types", "BetaContentBlock")],
        "request blocks": [(MESSAGES, "types", "ContentBlockParam"),
                           (BETA, "types", "BetaContentBlockParam")],
        "deltas": [(MESSAGES, "types", "RawContentBlockDelta"),
                   (BETA, "types", "BetaRawContentBlockDelta")],
        "events": [(MESSAGES, "types", "RawMessageStreamEvent"),
                   (BETA, "types", "BetaRawMessageStreamEvent")],
        "citations": [(MESSAGES, "types", "TextCitation"), (BETA, "types", "BetaTextCitation")],
        "stop reasons": [(MESSAGES, "values", "StopReason"), (BETA, "values", "BetaStopReason")],
        "tools": [(MESSAGES, "types", "ToolUnion"), (BETA, "types", "BetaToolUnion")],
        "parameters": [(MESSAGES, "members", "MessageCreateParamsBase"),
                       (BETA, "members", "MessageCreateParamsBase")],
    },
    "openai": {
        "items": [(RESPONSES, "types", "ResponseOutputItem")],
        "request items": [(RESPONSES, "types", "ResponseInputItem")],
        "parts": [(RESPONSES, "types", "ResponseInputContent"),
                  (RESPONSES, "types", "ResponseContent")],
        "annotations": [(RESPONSES, "types", "ResponseOutputText.annotations")],
        "events": [(RESPONSES, "types", "ResponseStreamEvent")],
        "statuses": [(RESPONSES, "values", "ResponseStatus"),
                     (RESPONSES, "values", "Response.IncompleteDetails.reason")],
        "tools": [(RESPONSES, "types", "Tool")],
        "parameters": [(RESPONSES, "members", "ResponseCreateParamsBase")],
        "chat parts": [(CHAT, "types", "ChatCompletionContentPart")],
        "chat deltas": [(CHAT, "members", "ChatCompletionChunk.Choice.Delta")],
        "chat calls": [(CHAT, "types", "ChatCompletionMessageToolCall")],
        "chat stop reasons": [(CHAT, "values", "ChatCompletionChunk.Choice.finish_reason")],
        "chat parameters": [(CHAT, "members", "ChatCompletionCreateParamsBase")],
    },
    "@google/genai": {
        "parts": [(GENAI, "members", "Part")],
        "candidates": [(GENAI, "members", "Candidate")],
        "stop reasons": [(GENAI, "values", "FinishReason")],
        "parameters": [(GENAI, "members", "GenerationConfig")],
        "tools": [(GENAI, "members", "Tool")],
        "interaction steps": [(GENAI, "types", "Step")],
        "interaction contents": [(GENAI, "types", "Content$")],
        "interaction deltas": [(GENAI, "types", "StepDeltaData")],
        "interaction events": [(GENAI, "event types", "InteractionSSEEvent")],
        "interaction statuses": [(GENAI, "values", "InteractionStatusUpdateStatus")],
        "interaction parameters": [(GENAI, "members", "CreateModelInteraction")],
    },
    "@aws-sdk/client-bedrock-runtime": {
        "blocks": [(AWS, "keys", "ContentBlock")],
        "starts": [(AWS, "keys", "ContentBlockStart")],
        "deltas": [(AWS, "keys", "ContentBlockDelta")],
        "events": [(AWS, "keys", "ConverseStreamOutput")],
        "stop reasons": [(AWS_ENUMS, "values", "StopReason")],
        "parameters": [(AWS, "members", "ConverseStreamRequest")],
    },
}

STRING = r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\""
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|" + STRING, re.S)
DECLARED = re.compile(r"\b(interface|type|enum|namespace|const|class)\s+([A-Za-z_$][\w$]*)")
NAME = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
MEMBER = re.compile(r"\s*(?:readonly\s+)?(?:([A-Za-z_$][\w$]*)|(" + STRING + r"))\s*\??\s*:(.*)", re.S)
ENTRY = re.compile(r"\s*(?:([A-Za-z_$][\w$]*)|(" + STRING + r"))\s*=\s*(.*)", re.S)
OPEN, CLOSE = "{([<", "})]>"


class Trouble(Exception):
    pass


def blank(match):
    """A comment as blanks of the same lines; a string stays."""
    text = match.group(0)
    return text if text[0] in "'\"" else re.sub(r"[^\n]", " ", text)


def closing(text, at):
    """The place of the bracket that closes the one at `at`."""
    depth, i = 0, at
    while i < len(text):
        c = text[i]
        if c in "'\"`":
            i = text.index(c, i + 1)
        elif c in OPEN:
            depth += 1
        elif c in CLOSE and not (c == ">" and text[i - 1] == "="):
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise Trouble("a bracket is not closed")


def next_mark(text, mark, at, end):
    """The place of the next `mark` that is in no brackets and no strings, or `end`."""
    depth, i = 0, at
    while i < end:
        c = text[i]
        if c in "'\"`":
            i = text.index(c, i + 1)
        elif c in OPEN:
            depth += 1
        elif c in CLOSE and not (c == ">" and text[i - 1] == "="):
            depth -= 1
        elif c == mark and depth == 0:
            return i
        i += 1
    return end


def split(text, mark):
    """The parts between such marks."""
    parts, at = [], 0
    while at <= len(text):
        stop = next_mark(text, mark, at, len(text))
        parts.append(text[at:stop])
        at = stop + 1
    return parts


class File:
    """The declarations of one file: name, with the namespaces around it -> (kind, text, offset)."""

    def __init__(self, path, text):
        self.path, self.text = path, COMMENT.sub(blank, text)
        self.declared, self.bases = {}, {}
        self.scan(0, len(self.text), "")

    def scan(self, at, end, prefix):
        while True:
            found = DECLARED.search(self.text, at, end)
            if not found:
                return
            kind, name = found.group(1), prefix + found.group(2)
            at = found.end()
            if kind == "type":
                stop = next_mark(self.text, ";", at, end)
                self.declared.setdefault(name, ("type", self.text[at:stop].partition("=")[2], at))
                at = stop
                continue
            brace, semicolon = self.text.find("{", at, end), self.text.find(";", at, end)
            if brace < 0 or (kind == "const" and 0 <= semicolon < brace):
                continue
            stop = closing(self.text, brace)
            if kind == "namespace":
                self.scan(brace + 1, stop, name + ".")
            else:
                kind = "interface" if kind in ("class", "interface") else kind
                self.declared.setdefault(name, (kind, self.text[brace + 1:stop], at))
                self.bases[name] = NAME.findall(self.text[at:brace].partition("extends")[2])
            at = stop

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def find(self, name, inside=""):
        """The full name of a type that is named inside of another one; None: it is not here."""
        parts = inside.split(".")[:-1]
        while True:
            full = ".".join(parts + [name])
            if full in self.declared:
                return full
            if not parts:
                break
            parts.pop()
        short = name.partition(".")[2]  # behind the name of an import
        return self.find(short) if short else None

    def members(self, name):
        """(member, its type, offset) of an interface, those of its bases included."""
        kind, body, at = self.declared[name]
        if kind == "type":  # an object with a name
            body = body.strip()[1:-1] if body.strip()[:1] == "{" else ""
        out = []
        for part in split(body, ";"):
            found = MEMBER.match(part)
            if found:
                out.append((found.group(1) or found.group(2)[1:-1], found.group(3), at))
        for base in self.bases.get(name, []) if kind == "interface" else []:
            full = self.find(base, name)
            out += self.members(full) if full and full != name else []
        return out

    def place(self, path):
        """(the type at a path, the name it is inside of, offset): "Type" or "Type.member"."""
        if path in self.declared:
            kind, text, at = self.declared[path]
            return kind, text, path, at
        owner, _, member = path.rpartition(".")
        if owner in self.declared:
            for name, text, at in self.members(owner):
                if name == member:
                    return "type", text, owner, at
        raise Trouble(f"{self.path}: there is no {path}")

    # ---- what a section wants ----

    def parts(self, text, inside, seen):
        """The members of a union: (text of an object or a literal, inside, offset)."""
        for part in split(text, "|"):
            part = part.strip()
            array = re.match(r"(?:Array|ReadonlyArray)\s*<(.*)>$", part, re.S)
            if array or part.endswith("[]"):
                yield from self.parts(array.group(1) if array else part[:-2], inside, seen)
                continue
            found = NAME.match(part)
            full = self.find(found.group(0), inside) if found else None
            if part[:1] in "{'\"" and part:
                yield part, inside, None
            elif full and full not in seen:
                seen.add(full)
                kind, body, at = self.declared[full]
                if kind == "type":
                    yield from self.parts(body, full, seen)
                else:
                    yield None, full, at

    def literals(self, text, inside):
        for part, within, _ in self.parts(text, inside, set()):
            if part is not None and part[0] in "'\"":
                yield part[1:-1]
            elif part is None and self.declared[within][0] == "enum":
                yield from (value for value, _ in self.values(within))

    def types(self, path, tag="type"):
        """The values of `type` of a union's members."""
        kind, text, inside, at = self.place(path)
        parts = [(None, path, at)] if kind == "interface" else self.parts(text, inside, set())
        for part, within, offset in parts:
            if part is None:
                members = self.members(within)
            elif part[0] == "{":
                members = [(m.group(1), m.group(3), at) for m in map(MEMBER.match, split(part[1:-1], ";"))
                           if m]
            else:
                continue
            for name, value, _ in members:
                if name == tag:
                    for literal in self.literals(value, within):
                        yield literal, offset if offset is not None else at
                    break

    def event_types(self, path):
        return self.types(path, "event_type")

    def values(self, path):
        """The literals of a union, the values of an enum or of a constant's members."""
        kind, text, inside, at = self.place(path)
        if kind == "enum":
            for part in split(text, ","):
                found = ENTRY.match(part)
                if found and found.group(3).strip()[:1] in "'\"":
                    yield found.group(3).strip()[1:-1], at
        elif kind == "const":
            for _, value, _ in self.members(path):
                yield value.strip().strip("'\""), at
        else:
            for literal in self.literals(text, inside):
                yield literal, at

    def names(self, path):
        kind, text, inside, at = self.place(path)
        if kind == "type" and text.strip()[:1] != "{":  # an alias, or an intersection
            for part in re.split(r"[|&]", text):
                found = NAME.match(part.strip())
                full = self.find(found.group(0), inside) if found else None
                if full:
                    yield from self.names(full)
            return
        for name, _, _ in self.members(path):
            yield name, at

    def keys(self, path):
        """The names of a union of objects that have one member each, all others being `never`."""
        _, text, inside, at = self.place(path)
        for part, within, offset in self.parts(text, inside, set()):
            for name, value, _ in self.members(within) if part is None else []:
                if name != "$unknown" and value.strip() != "never":
                    yield name, offset


HOW = {"types": File.types, "event types": File.event_types, "values": File.values,
       "members": File.names, "keys": File.keys}


def listed(sections, section):
    """The names of a section, in whatever class."""
    given = sections.get(section, {})
    return set(given.get("known", [])) | set(given.get("passed", [])) | set(given.get("ignored", {}))


def new_names(directory, package, wanted, known):
    """Lines about the names of a package that no class of the list has."""
    home = os.path.join(directory, "node_modules", *package.split("/"))
    with open(os.path.join(home, "package.json"), encoding="utf-8") as file:
        version = json.load(file)["version"]
    files, out, total = {}, [], 0
    for section, places in wanted.items():
        names, there = listed(known, section), {}
        for path, how, kind in places:
            if path not in files:
                with open(os.path.join(home, path), encoding="utf-8") as file:
                    files[path] = File(path, file.read())
            found = list(HOW[how](files[path], kind))
            if not found:
                raise Trouble(f"{package} {version}: {path}: {kind} has no names")
            for name, offset in found:
                there.setdefault(name, f"{path}:{files[path].line(offset)}: {kind}")
        total += len(there)
        out += [f"{package} {version}: {section}: \"{name}\" is new ({there[name]})"
                for name in there if name not in names]
    return version, total, out


def check_list(known):
    """Lines about a list that contradicts itself."""
    out = []
    for package, sections in known.items():
        for section, given in sections.items():
            classes = [set(given.get(c, [])) for c in ("known", "passed", "ignored")]
            twice = classes[0] & classes[1] | classes[0] & classes[2] | classes[1] & classes[2]
            out += [f"vendors.json: {package}: {section}: \"{name}\" is in two classes"
                    for name in sorted(twice)]
            out += [f"vendors.json: {package}: {section}: \"{name}\" is ignored without a reason"
                    for name, reason in given.get("ignored", {}).items() if not reason]
    return out


def main(arguments, sections=None, path=LIST):
    only_print = arguments[:1] == ["--print"]
    arguments = arguments[only_print:]
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(path, encoding="utf-8") as file:
        known = json.load(file)
    failed = check_list(known)
    print("\n".join(failed), end="\n" * bool(failed))
    for package, wanted in (sections or SECTIONS).items():
        try:
            version, total, new = new_names(arguments[0], package, wanted, known.get(package, {}))
        except (OSError, ValueError, Trouble) as e:
            print(f"{package}: {e}")
            failed.append(package)
            continue
        print("\n".join(new), end="\n" * bool(new))
        print(f"{package} {version}: {total} names, {len(new)} new")
        failed += new
    return 1 if failed and not only_print else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
