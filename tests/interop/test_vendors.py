#!/usr/bin/env python3
"""Checks scripts/vendors.py on small SDKs of its own: names of each form are found, and new ones said."""
import contextlib
import io
import json
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import vendors  # noqa: E402

ONE = """\
import * as Shared from '../types';
/* export type Block = CommentBlock; */
export type Block = TextBlock | Inner.CallBlock | Array<OtherBlock> | { type: 'inline'; x: string };
export interface TextBlock {
    /** A comment; with 'quotes' and { braces }. */
    text: string | null;
    type: 'text';
}
interface Base { type: 'other' | 'another'; name: string }
export interface OtherBlock extends Base { items: Array<{ type: 'not_this' }> }
export declare namespace Inner {
    interface CallBlock { id: string; type: Kind; run: (x: number) => void }
    type Kind = 'call';
}
export type Stop = 'end' | 'cut' | (string & {});
export interface Params extends Base { 'quoted-name'?: string; limit?: number; readonly top_p: number | null }
"""
TWO = """\
declare type Sent = Made | Gone;
declare type Made = { event_type: 'sent.made'; type: 'not_this'; };
declare type Gone = { event_type: "sent.gone"; };
export declare enum Reason { A = "REASON_A", /** words */ B = "REASON_B" }
export declare const Other: { readonly X: "other_x"; readonly Y: "other_y" };
export type Event = Event.StartMember | Event.$UnknownMember;
export declare namespace Event {
    interface StartMember { start: string; stop?: never; $unknown?: never }
    interface $UnknownMember { start?: never; stop?: never; $unknown: [string, any] }
}
"""
SECTIONS = {
    "@tiny/sdk": {
        "blocks": [("one.d.ts", "types", "Block")],
        "stops": [("one.d.ts", "values", "Stop")],
        "parameters": [("one.d.ts", "members", "Params")],
    },
    "two": {
        "reasons": [("two.d.ts", "values", "Reason"), ("two.d.ts", "values", "Other")],
        "events": [("two.d.ts", "keys", "Event"), ("two.d.ts", "event types", "Sent")],
        "fields": [("two.d.ts", "members", "Gone")],
    },
}
ALL = {
    "@tiny/sdk": {
        "blocks": {"known": ["text", "call"], "passed": ["other", "another"],
                   "ignored": {"inline": "a reason"}},
        "stops": {"known": ["end", "cut"]},
        "parameters": {"passed": ["type", "name", "quoted-name", "limit", "top_p"]},
    },
    "two": {
        "reasons": {"known": ["REASON_A", "REASON_B", "other_x", "other_y"]},
        "events": {"known": ["start", "sent.made", "sent.gone"]},
        "fields": {"known": ["event_type"]},
    },
}
passed = failed = 0


def check(ok, what, seen=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAILED:", what, repr(seen)[:600])


def package(home, name, version, file, text):
    folder = os.path.join(home, "node_modules", *name.split("/"))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as out:
        json.dump({"name": name, "version": version}, out)
    with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
        out.write(text)


def run(home, known, *options, one=ONE, two=TWO):
    """(exit code, what it says) of the two SDKs against a list."""
    package(home, "@tiny/sdk", "1.2.3", "one.d.ts", one)
    package(home, "two", "4.5.6", "two.d.ts", two)
    path = os.path.join(home, "list.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(known, out)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = vendors.main([*options, home], SECTIONS, path)
    return code, said.getvalue()


def without(section, name):
    known = json.loads(json.dumps(ALL))
    for given in known.values():
        for kind in given.get(section, {}).values():
            if name in kind:
                kind.remove(name)
    return known


def main():
    with tempfile.TemporaryDirectory() as home:
        code, said = run(home, ALL)
        check(code == 0, "a list that has all names passes", said)
        check(said == "@tiny/sdk 1.2.3: 12 names, 0 new\ntwo 4.5.6: 8 names, 0 new\n",
              "no name is missed, and none is invented", said)

        more = ONE.replace("Block = TextBlock", "Block = NewBlock | TextBlock") \
            + "export interface NewBlock { type: 'brand_new' }\n"
        code, said = run(home, ALL, one=more)
        check(code == 1, "a new block fails", said)
        check("@tiny/sdk 1.2.3: blocks: \"brand_new\" is new (one.d.ts:17: Block)\n" in said,
              "a new name is said with its SDK, version and place", said)
        code, said = run(home, ALL, "--print", one=more)
        check(code == 0 and "\"brand_new\" is new" in said, "--print says it and passes", said)

        for section, name in (("stops", "cut"), ("parameters", "limit"), ("parameters", "quoted-name"),
                              ("reasons", "REASON_B"), ("reasons", "other_y"), ("events", "start"), ("events", "sent.gone"), ("fields", "event_type"),
                              ("blocks", "another")):
            code, said = run(home, without(section, name))
            check(code == 1 and f"{section}: \"{name}\" is new" in said,
                  f"{name} of {section} is new where no class has it", said)

        code, said = run(home, ALL, one=ONE.replace("type Stop =", "type Halt ="))
        check(code == 1 and "one.d.ts: there is no Stop" in said, "a type that has moved is said", said)
        code, said = run(home, ALL, two=TWO.replace("start: string", "start?: never"))
        check(code == 1 and "Event has no names" in said, "a type without names is said", said)
        code, said = run(home, ALL, one="export type Block = {")
        check(code == 1, "a file that is cut is said", said)

        twice = json.loads(json.dumps(ALL))
        twice["@tiny/sdk"]["blocks"]["passed"].append("text")
        twice["@tiny/sdk"]["blocks"]["ignored"]["inline"] = ""
        code, said = run(home, twice)
        check(code == 1 and "\"text\" is in two classes" in said
              and "\"inline\" is ignored without a reason" in said, "a list that contradicts itself", said)
    with open(vendors.LIST, encoding="utf-8") as file:
        known = json.load(file)
    check(not vendors.check_list(known), "the list in the tree is consistent", vendors.check_list(known))
    check({p: set(s) for p, s in known.items()} == {p: set(s) for p, s in vendors.SECTIONS.items()},
          "the list has the sections that are read, and no others")
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
