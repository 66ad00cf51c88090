"""What the labels and places of graphify say: names, kinds, lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.codegraph.raw import RawNode


def bare(label: str) -> str:
    """Return a label without its decoration: `.total()` and `total()` are `total`."""
    name = label.partition("(")[0] if label[-1:] == ")" else label
    return (name.lstrip(".") if name[:1] == "." else name) or label


def fold(text: str) -> str:
    """Return text as graphify compares it: composed, and without the difference of capitals."""
    if text.isascii():
        return text.lower()
    import unicodedata

    return unicodedata.normalize("NFC", text).casefold()


def line_of(location: str | None) -> int | None:
    """Return the line of a place such as `L12` or `L12-L30`; None when there is none."""
    if not location:
        return None
    digits = location.lstrip("L")
    if not digits.isascii() or not digits.isdigit():
        digits = digits[: next((at for at, sign in enumerate(digits) if sign not in "0123456789"), len(digits))]
    return int(digits) if digits and len(digits) < 10 else None


def names_its_file(label: str, file: str) -> bool:
    """Tell whether a label is that of a file: its name, or the end of its path where the name alone is not unique."""
    path = file.replace("\\", "/")
    return label == path.rpartition("/")[2] or ("/" in label and (path == label or path.endswith("/" + label)))


def kind_of(node: RawNode, *, is_method: bool, is_parent: bool) -> str:
    """Return what a node is: file, type, function, method, namespace, package or other."""
    label, said = node.label or "", node.type
    if node.is_class and said is None and label[-1:] != ")":
        return "type"
    if said in ("namespace", "package"):
        return said
    if said == "external" or node.external:
        return "package"
    if node.file_type not in ("code", None):
        return "other"
    if label.endswith(")"):
        return "method" if is_method or label.startswith(".") else "function"
    if node.source_file and names_its_file(label, node.source_file):
        return "file"
    return "type" if node.is_class or (is_parent and node.source_file) else "other"
