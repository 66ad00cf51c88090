"""Which changed files are asked for a test that reaches them: production code. What is data is told apart."""

from __future__ import annotations

from typing import Literal

from morph_tasks.repo.byproducts import is_byproduct
from morph_tasks.verify.packages import LOCKS

Kind = Literal["code", "data", "none"]

FOREIGN = frozenset({
    ".morph", ".git", "graphify-out", "node_modules", "site-packages", ".venv", "venv", "third_party", "vendor",
})  # fmt: skip
_LOCKS = frozenset({name for names in LOCKS.values() for name in names} - {"requirements.txt"}) | {
    "go.sum", "gradle.lockfile", "flake.lock", "packages.lock.json",
}  # fmt: skip
_PROSE = (".md", ".rst", ".txt", ".adoc", ".tex", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico")
_PROSE_NAMES = frozenset({
    "license", "licence", "notice", "authors", "changelog", "codeowners", "readme", "copying", ".gitignore",
    ".gitattributes", ".graphifyignore", ".editorconfig", ".dockerignore", ".mailmap",
})  # fmt: skip
_CODE = (
    ".py", ".pyi", ".pyx", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".go",
    ".rs", ".java", ".kt", ".kts", ".scala", ".groovy", ".cs", ".fs", ".vb", ".rb", ".php", ".ex", ".exs", ".erl",
    ".clj", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".mm", ".swift", ".dart", ".lua", ".pl", ".r", ".jl",
    ".sh", ".bash", ".zsh", ".ps1", ".zig", ".nim", ".cr", ".elm", ".hs", ".ml", ".sol",
)  # fmt: skip
_GENERATED = (
    ".designer.cs", ".g.cs", ".g.i.cs", "modelsnapshot.cs", ".d.ts", ".d.mts", ".d.cts", ".min.js", "_pb2.py",
    "_pb2.pyi", "_pb2_grpc.py", ".pb.go", ".snap", ".pyi",
)  # fmt: skip


def kind_of(path: str, head: str = "") -> Kind:
    """Return what a changed file is: code, data, or nothing that a test would reach.

    `head` is its beginning: there a generator leaves its mark.
    """
    from morph_tasks.codegraph.marks import is_test
    from morph_tasks.verify.validators.languages import is_generated

    *folders, name = path.split("/")
    lower = name.lower()
    if not FOREIGN.isdisjoint(folders) or is_byproduct(path.encode("utf-8", "surrogateescape"), False):
        return "none"
    if name in _LOCKS or lower in _PROSE_NAMES or lower.endswith((*_PROSE, *_GENERATED, ".lock")):
        return "data" if name.startswith("requirements") else "none"
    if lower.partition(".")[0] in ("license", "licence", "readme", "changelog") or is_test(path):
        return "none"
    if head and is_generated(head):
        return "none"
    return "code" if lower.endswith(_CODE) else "data"
