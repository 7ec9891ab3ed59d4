"""Makes links that leave docs/, such as the one to the project's README.md, lead to the repository."""

import posixpath
import re

LINK = re.compile(r"\]\((\.\./[^)\s]*)\)")


def on_page_markdown(markdown, page, config, **_):
    folder = posixpath.dirname(posixpath.join("docs", page.file.src_uri))

    def rewritten(match):
        path = posixpath.normpath(posixpath.join(folder, match.group(1)))
        if path == "docs" or path.startswith("docs/"):
            return match.group(0)
        return f"]({config.repo_url}/blob/main/{path})"

    return LINK.sub(rewritten, markdown)
