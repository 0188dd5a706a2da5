#!/usr/bin/env python3
"""Reads the built site (mkdocs.yml): every link and anchor inside it leads somewhere, every page is found by the search,
and no page loads anything from another server. Links to other servers are not followed."""
import glob
import html.parser
import json
import os
import re
import sys
import urllib.parse

SITE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "site")
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("id", "name") and tag != "meta":
                self.ids.add(value)
            if key in ("href", "src") and value:
                self.links.append(value)
                if (tag, key) in LOADED and dict(attrs).get("rel") not in ("canonical", "next", "prev"):
                    self.loads.append(value)


def main():
    pages = {os.path.relpath(p, SITE): Page(p) for p in glob.glob(os.path.join(SITE, "**", "*.html"), recursive=True)}
    bad, count = [], 0
    for name, page in sorted(pages.items()):
        bad += [f"{name}: loads {link}" for link in page.loads if re.match(r"(?:\w+:)?//", link)]
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or name == "404.html":  # whose links begin at the root of a server
                continue
            count += 1
            path = urllib.parse.unquote(parts.path)
            to = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if os.path.isdir(os.path.join(SITE, to)):
                to = os.path.normpath(os.path.join(to, "index.html"))
            if not os.path.exists(os.path.join(SITE, to)):
                bad.append(f"{name}: {link}: there is no {to}")
            elif parts.fragment and to in pages and urllib.parse.unquote(parts.fragment) not in pages[to].ids:
                bad.append(f"{name}: {link}: {to} has no such anchor")
    for path in glob.glob(os.path.join(SITE, "**", "*.css"), recursive=True):
        with open(path, encoding="utf-8") as file:
            bad += [f"{os.path.relpath(path, SITE)}: loads {u}" for u in re.findall(r"url\([\"']?((?:https?:)?//[^)\"']+)", file.read())]
    with open(os.path.join(SITE, "search", "search_index.json"), encoding="utf-8") as file:
        found = {entry["location"].split("#")[0] or "index.html" for entry in json.load(file)["docs"]}
    with open(os.path.join(SITE, "llms.txt"), encoding="utf-8") as file:
        bad += [f"llms.txt: there is no {to}" for to in re.findall(r"\]\(([^)]+)\)", file.read())
                if not os.path.exists(os.path.join(SITE, to))]
    docs = glob.glob(os.path.join(os.path.dirname(os.path.dirname(SITE)), "docs", "*.md"))
    bad += [f"{name}: the search does not find it"
            for name in sorted(os.path.basename(p)[:-3] + ".html" for p in docs) if name not in found]
    print("\n".join(bad), end="\n" * bool(bad))
    print(f"build/site: {len(pages)} pages, {count} links, {len(bad)} wrong")
    return 1 if bad or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
