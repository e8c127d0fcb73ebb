"""A page as GitHub's own Markdown renders it: its tags in order, and its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

#: What GitHub looks into for nobody's name and for no issue.
_QUIET = {"code", "pre"}
_VOID = {"br", "hr", "img", "input"}


@dataclass
class Rendered(HTMLParser):
    """Tags as they open and close, ``talking`` the text outside code, ``text`` all of it."""

    tags: list[str] = field(default_factory=list)
    text: str = ""
    talking: str = ""
    comments: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag, attrs):
        assert all(name in {"align", "lang", "class"} for name, _ in attrs), (tag, attrs)
        self.tags.append(tag)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag
        self.tags.append(f"/{tag}")

    def handle_data(self, data):
        self.text += data
        if not _QUIET & set(self._open):
            self.talking += data

    def handle_comment(self, data):
        self.comments.append(data)

    def structure(self) -> list[str]:
        """The tags but for those of code, which a name with a bar in it does without."""
        return [tag for tag in self.tags if tag not in {"code", "/code"}]


def rendered(page: str) -> Rendered:
    """Render a page, raw HTML and all, and read what comes out; tags that do not match fail."""
    html = cmarkgfm.github_flavored_markdown_to_html(page, options=Options.CMARK_OPT_UNSAFE)
    found = Rendered()
    found.feed(html)
    found.close()
    assert not found._open
    return found
