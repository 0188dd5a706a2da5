"""The pages of the site that are not in docs/: mkdocs calls these functions (mkdocs.yml, hooks).

README.md becomes the first page. A file outside docs/ that a page links to becomes a page with its text, and the
folder examples/ becomes a list of the programs. llms.txt is at the root, with the files that it links to."""
import html
import os
import posixpath
import re
import shutil

from mkdocs.structure.files import File, InclusionLevel

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CODE = r"^ *```.*?^ *```[ \t]*$|`[^`\n]*`"
LINK = re.compile(CODE + r"|\]\((?P<to>(?!\w+:|#)[^)\s]+)\)", re.M | re.S)
COMMENT = re.compile(CODE + r"|^<!--(?:(?!-->).)*-->[ \t]*\n", re.M | re.S)  # code that no reader need see (check_docs.py)
LANGUAGE = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp"}
LOOKED_UP = ("CHANGELOG.md", "conformance.md")  # the search shows them after other pages
STYLE = """.md-grid { max-width: 84rem; }
.md-typeset pre > code { font-size: .6rem; }
.md-typeset table:not([class]) { font-size: .68rem; }
.md-typeset table:not([class]) code { word-break: normal; }
"""


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def targets(folder, text):
    """Files and folders, by their paths in the repository, that a text links to."""
    for found in LINK.finditer(text):
        if found["to"]:
            yield posixpath.normpath(posixpath.join(folder, found["to"].partition("#")[0]))


def page_of(name):
    """The page that shows a file of the repository, as a path below docs/."""
    if name.startswith("docs/"):
        return name[5:]
    if name == "README.md":
        return "index.md"
    if os.path.isdir(os.path.join(ROOT, name)):
        return name + "/index.md"
    return name if name.endswith(".md") else name + ".md"


def listing(folder):
    rows = []
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        path = f"{folder}/{name}"
        if os.path.splitext(name)[1] in LANGUAGE:
            about = re.search(r"/\* (?:\S+ - )?(.*?)(?:\.\s|\*/|\n\s*\n)", read(path), re.S)
            rows.append(f"- [{name}]({name}){': ' + ' '.join(about[1].split()) if about else ''}\n")
    return f"# {folder}/\n\n" + "".join(rows), [f"{folder}/{row[3:].split(']')[0]}" for row in rows]


def shown(name):
    fence = "````" if name.endswith(".md") else "```"
    return f"---\nsearch: {{exclude: true}}\n---\n# {name}\n\n{fence}{LANGUAGE.get(os.path.splitext(name)[1], 'text')}\n" \
        f"{read(name)}\n{fence}\n"


def on_files(files, config):
    pages = {"README.md": read("README.md"), "CHANGELOG.md": read("CHANGELOG.md")}
    wanted = [t for name, text in pages.items() for t in targets("", text)]
    wanted += [t for file in files.documentation_pages() for t in targets("docs", read("docs/" + file.src_uri))]
    while wanted:
        name = wanted.pop()
        if name.startswith("docs/") or name in pages or not os.path.exists(os.path.join(ROOT, name)):
            continue  # mkdocs itself warns of a file that is not there
        if os.path.isdir(os.path.join(ROOT, name)):
            pages[name], more = listing(name)
            wanted += more
        else:
            pages[name] = shown(name)
    for name, text in pages.items():
        level = InclusionLevel.INCLUDED if name == "README.md" else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, page_of(name), content=text, inclusion=level))
    files.append(File.generated(config, "site.css", content=STYLE))
    config.extra_css.append("site.css")
    return files


def bars(line):
    """GitHub shows \\| in the code of a table as |, Python-Markdown does not."""
    if not line.startswith("|"):
        return line
    return re.sub(r"`([^`]*\\\|[^`]*)`",
                  lambda m: "<code>" + html.escape(m[1].replace("\\|", "|")).replace("|", "&#124;") + "</code>", line)


def on_page_markdown(markdown, page, config, files):
    name = page.file.src_uri
    folder = "" if name == "index.md" else posixpath.dirname(name) if page.file.generated_by else "docs"
    here = posixpath.dirname(name)

    def one(found):
        if not found["to"]:
            return found[0]
        path, _, anchor = found["to"].partition("#")
        to = posixpath.normpath(posixpath.join(folder, path))
        return f"]({posixpath.relpath(page_of(to), here or '.')}{'#' * bool(anchor)}{anchor})"

    if "\nsearch: {exclude" in (page.file.content_string if page.file.generated_by else "")[:40]:
        return markdown  # the text of a file
    if name in LOOKED_UP:
        page.meta["search"] = {"boost": 0.2}
    markdown = COMMENT.sub(lambda m: "" if m[0].startswith("<!--") else m[0], markdown)
    return "\n".join(bars(line) for line in LINK.sub(one, markdown).split("\n"))


def on_post_build(config):
    """llms.txt, and the files that it links to as they are, for programs that read pages."""
    for name in ["llms.txt", *targets("", read("llms.txt"))]:
        to = os.path.join(config.site_dir, name)
        if os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, name), to)
