#!/usr/bin/env python3
"""One idiom each, in what the public headers declare:

    phi_x_free        returns nothing; a program that gives NULL, or a zero handle, to each of them runs
    phi_x_at          returns a pointer, NULL past the last
    callbacks         a type of functions ends in _fn, and so does a member that is a function; the members of a
                      table of functions (TABLES) are plain verbs
    phi_x_desc        what a constructor is told, and every parameter that is called desc
    phi_x_to_json     returns a status and has `phi_str *out` last; phi_x_from_json is there, too, and has an `error`
                      last, of phi_parse_error
    phi_x_save        is read by phi_x_load
    message           a member or parameter with an error's text is not called words, error, fault, why...
    phi_x_new, ...    a constructor returns what it made, and knows a runtime (phi_last_error), or has an `error` last;
                      one of MEMORY fails without memory alone

    check_idioms.py [--program] [HEADER...]      default: the three headers, as they are

--program prints the program instead. Prints every breach; exit code 1 on any."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADERS = [os.path.join(ROOT, name) for name in ("phi_json.h", "phi.h", "phi_tools.h")]
END = "\n#ifdef PHI_IMPLEMENTATION\n#ifndef PHI__FN"
DESTROYS = re.compile(r"_(?:free|close|unload|end)$")
CONSTRUCTS = re.compile(r"_(?:new|open|connect|serve|record|play|restore|from_config)$")
HANDLES = {"phi_agent", "phi_response"}  # values; zero is none
TABLES = {"phi_compactor", "phi_mcp_key", "phi_mcp_serve_prompt", "phi_mcp_serve_resource",
          "phi_mcp_serve_template", "phi_provider", "phi_store", "phi_strategy", "phi_token_counter", "phi_tool",
          "phi_tool_source", "phi_trace_sink", "phi_transport"}
MEMORY = {"phi_json_reader_new", "phi_mock_new", "phi_recorder_new", "phi_skills_new", "phi_tape_record",
          "phi_toml_reader_new", "phi_yaml_reader_new"}
KNOWS = {"phi_runtime_new": "phi_runtime_desc.error"}
DATA = {"phi_allocator", "phi_config", "phi_model", "phi_str", "phi_thread"}  # not what a constructor is told
NAMED = {"phi_model.codec": "one of a list of data"}
NO_LOAD = {"phi_arena_save": "phi_arena_reset goes back to its mark"}
ERROR = re.compile(r"^(?:words|errors?|error_\w+|err|fault|faults|why|complaint|reason_text|failure_text)$")
NO_ERROR = {"phi_runtime_desc.error": "the `error` of phi_runtime_new",
            "phi_message.error_message": "the message's own, which the interchange calls so",
            "phi_mcp_answer_desc.error": "a kind of answer",
            "phi_permissions_check.why": "of a decision, which is no error",
            "phi_permissions_always.why": "of a decision, which is no error"}


def split(text):
    """At commas outside of parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [" ".join(p.split()) for p in parts + [text[start:]]]


def typed(declaration):
    """("const char *", "name") of a parameter or a member; of a function its name and "(*)"."""
    function = re.search(r"\(\*(?:const )?(\w+)\)\(", declaration)
    if function:
        return "(*)", function[1]
    found = re.match(r"(.*?[ *])(\w+)(?:\[.*\])?$", declaration)
    return (found[1].strip(), found[2]) if found else (declaration, "")


class Header:
    """What headers declare: functions {name: (returns, [(type, name)])}, structs {name: [(type, name)]}."""

    def __init__(self, texts):
        self.functions, self.structs, self.types = {}, {}, []
        for text in texts:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text.split(END)[0], flags=re.S)
            for found in re.finditer(r"^PHI_API ([^;{]*?)\b(phi_\w+)\(((?:[^;{}])*?)\)[\w\s(),]*;", text, re.M):
                parameters = [] if found[3].strip() == "void" else [typed(p) for p in split(found[3])]
                self.functions[found[2]] = (" ".join(found[1].split()), parameters)
            for found in re.finditer(r"^(?:typedef )?struct (phi_\w+) \{\n(.*?)^\}", text, re.M | re.S):
                self.structs[found[1]] = [typed(" ".join(line.split())) for line in found[2].split(";") if line.strip()]
            self.types += re.findall(r"^typedef [^;{(]*\(\*(\w+)\)\(", text, re.M)


def pointee(kind):
    return kind.replace("const", "").replace("struct", "").replace("*", "").strip()


def ends(header):
    for name, (returns, parameters) in header.functions.items():
        if name.endswith("_free") and returns != "void":
            yield f"{name}: returns {returns}, and not void"
        if name.endswith("_free") and len(parameters) != 1:
            yield f"{name}: takes more than what it frees"
        if name.endswith("_at") and not returns.endswith("*"):
            yield f"{name}: returns {returns}, and no pointer"


def callbacks(header):
    for name in header.types:
        if not name.endswith("_fn"):
            yield f"{name}: a type of functions ends in _fn"
    for struct, members in header.structs.items():
        for kind, name in members:
            if (kind == "(*)" or kind.endswith("_fn")) and not name.endswith("fn") and \
                    struct not in TABLES and f"{struct}.{name}" not in NAMED:
                yield f"{struct}.{name}: a member that is a function ends in _fn"


def descs(header):
    for name, (_, parameters) in header.functions.items():
        for kind, parameter in parameters:
            struct = pointee(kind)
            told = parameter == "desc" or (CONSTRUCTS.search(name) and re.match(r"const phi_\w+ \*$", kind) and
                                           struct in header.structs and struct not in DATA | TABLES)
            if told and not struct.endswith("_desc"):
                yield f"{name}: {struct} ends in _desc"


def pairs(header):
    for name, (returns, parameters) in header.functions.items():
        other = name.replace("_to_json", "_from_json")
        if name.endswith("_to_json"):
            if other not in header.functions:
                yield f"{name}: there is no {other}"
            if returns != "phi_status" or parameters[-1] != ("phi_str *", "out"):
                yield f"{name}: returns phi_status, and has phi_str *out last"
        if name.endswith("_from_json"):
            if name.replace("_from_json", "_to_json") not in header.functions:
                yield f"{name}: there is no {name.replace('_from_json', '_to_json')}"
            if returns != "phi_status" or parameters[-1] != ("phi_parse_error *", "error"):
                yield f"{name}: returns phi_status, and has phi_parse_error *error last"
            if ("phi_str", "json") not in parameters:
                yield f"{name}: reads phi_str json"
        if name.endswith("_save") and name not in NO_LOAD and name[:-5] + "_load" not in header.functions:
            yield f"{name}: there is no {name[:-5]}_load"


def messages(header):
    places = [(name, parameters) for name, (_, parameters) in header.functions.items()]
    for place, members in places + list(header.structs.items()):
        for kind, name in members:
            if ERROR.match(name) and kind in ("char *", "const char *", "const char **", "phi_str", "phi_str *") and \
                    f"{place}.{name}" not in NO_ERROR:
                yield f"{place}: {name} is called message"


def constructors(header):
    for name, (returns, parameters) in header.functions.items():
        if not CONSTRUCTS.search(name) or not name.endswith("_new") and returns in ("void", "phi_status"):
            continue
        if not (returns.endswith("*") or returns in HANDLES):
            yield f"{name}: returns {returns}, and not what it made"
        knows = parameters and (pointee(parameters[0][0]) in {"phi_runtime", "phi_thread"} | HANDLES or
                                parameters[-1] == ("phi_parse_error *", "error"))
        if not knows and name not in MEMORY and name not in KNOWS:
            yield f"{name}: no phi_parse_error *error last, and no runtime"


def program(header):
    """Ends nothing, by every function that ends something; to be linked with the implementation."""
    lines = ['#include "phi_tools.h"', "int main(void) {"]
    for name, (returns, parameters) in header.functions.items():
        if not DESTROYS.search(name) or returns != "void" or len(parameters) != 1:
            continue
        kind = parameters[0][0]
        if kind.endswith("*"):
            lines.append(f"    {name}(NULL);")
        else:
            lines.append(f"    {{\n        {kind} none = PHI_ZERO;\n        {name}(none);\n    }}")
    return "\n".join(lines + ["    return 0;", "}", ""])


def main():
    paths = [a for a in sys.argv[1:] if a != "--program"] or HEADERS
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    header = Header(texts)
    if "--program" in sys.argv:
        print(program(header), end="")
        return 0
    found = [words for rule in (ends, callbacks, descs, pairs, messages, constructors) for words in rule(header)]
    print("\n".join(found) if found else f"{len(header.functions)} functions, {len(header.structs)} structs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
