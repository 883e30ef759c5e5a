"""HTML: what a reader of the page would read, with its headings, lists and tables."""

from collections.abc import Iterator

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString, Tag

from condensery.retrieval.parsed import ParsedDocument, Piece, from_pieces, table_row
from condensery.retrieval.text import one_line

_UNREAD = ["script", "style", "noscript", "template", "svg", "nav", "head", "iframe", "select", "button"]
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = (
    "address article aside blockquote body caption dd details dialog div dl dt fieldset figcaption figure footer form "
    "header hr html li main ol p pre section summary table ul"
)
_BLOCK_NAMES = [*_BLOCKS.split(), *_HEADINGS]


def read_html(data: bytes | str) -> ParsedDocument:
    """Read a page; given bytes, its declared encoding is honoured."""
    page = BeautifulSoup(data, "html.parser")
    title = one_line(page.title.get_text()) if page.title else ""
    author = page.find("meta", attrs={"name": "author"})
    content = author.get("content") if isinstance(author, Tag) else None
    metadata = {"author": one_line(content)} if isinstance(content, str) and content.strip() else {}
    for unread in page.find_all(_UNREAD):
        unread.decompose()
    return from_pieces(_pieces(page), title, metadata)


def _pieces(parent: Tag) -> Iterator[Piece]:
    """Runs of inline content become one piece each; blocks are read in turn."""
    run: list[str] = []
    for child in parent.children:
        if isinstance(child, Tag) and (_is_block(child)):
            yield from _run(run)
            run = []
            yield from _block(child)
        else:
            run.append(_inline(child))
    yield from _run(run)


def _is_block(tag: Tag) -> bool:
    return tag.name in _BLOCK_NAMES or tag.find(_BLOCK_NAMES) is not None


def _run(parts: list[str]) -> Iterator[Piece]:
    lines = [" ".join(line.split()) for line in "".join(parts).split("\0")]
    if text := "\n".join(line for line in lines if line):
        yield Piece(text)


def _inline(node: object) -> str:
    """The text of inline content; a `<br>` is a NUL here, since line ends of the source mean only a space."""
    if isinstance(node, NavigableString):  # comments, doctypes and the like are preformatted strings
        return "" if isinstance(node, PreformattedString) else str(node).replace("\0", "")
    if not isinstance(node, Tag):
        return ""
    return "\0" if node.name == "br" else "".join(_inline(child) for child in node.children)


def _block(tag: Tag) -> Iterator[Piece]:
    if tag.name in _HEADINGS:
        yield Piece(tag.get_text(" "), _HEADINGS[tag.name])
    elif tag.name == "pre":
        yield Piece(tag.get_text(), by_lines=True)
    elif tag.name in ("ul", "ol"):
        yield Piece("\n".join(_items(tag, "")), by_lines=True)
    elif tag.name == "table":
        yield from (Piece(caption.get_text(" ")) for caption in tag.find_all("caption"))
        yield Piece("\n".join(_rows(tag)), by_lines=True)
    else:
        yield from _pieces(tag)


def _items(tag: Tag, indent: str) -> Iterator[str]:
    for number, item in enumerate(tag.find_all("li", recursive=False), 1):
        nested = item.find_all(["ul", "ol"])
        lists = [inner.extract() for inner in nested if inner.find_parent(["ul", "ol"]) is tag]
        mark = f"{number}." if tag.name == "ol" else "-"
        yield f"{indent}{mark} {one_line(item.get_text(' '))}"
        for inner in lists:
            yield from _items(inner, indent + "  ")


def _rows(table: Tag) -> Iterator[str]:
    for row in table.find_all("tr"):
        if row.find_parent("table") is table:
            yield table_row(cell.get_text(" ") for cell in row.find_all(["td", "th"], recursive=False))
