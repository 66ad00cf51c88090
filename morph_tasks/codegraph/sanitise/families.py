"""Which languages name each other's symbols, and which names belong to a language itself."""

from __future__ import annotations

_FAMILIES = {
    "jsts": "js jsx mjs cjs ts tsx mts cts vue svelte astro ejs",
    "jvm": "java kt kts scala groovy gradle",
    "native": "c h cpp cc cxx hpp hh hxx cu cuh metal m mm swift",
    "dotnet": "cs vb fs razor cshtml xaml",
    "python": "py pyi",
    "go": "go",
    "rust": "rs",
    "ruby": "rb rake",
    "php": "php phtml",
    "lua": "lua luau",
    "elixir": "ex exs",
    "dart": "dart",
    "zig": "zig",
    "julia": "jl",
    "solidity": "sol",
    "erlang": "erl hrl",
    "r": "r",
}
_BY_SUFFIX = {suffix: family for family, suffixes in _FAMILIES.items() for suffix in suffixes.split()}

# Where a name from another file has to be imported, so that an import that does not reach it speaks against it.
STRICT = frozenset({"python", "jsts", "go", "jvm", "rust", "dotnet"})
# Where all files of a folder see each other's names.
BY_FOLDER = frozenset({"go", "jvm"})

# Names that every file of a language has without an import: a lone class of that name elsewhere is not what is meant.
_GIVEN = {
    "python": """
        ArithmeticError AssertionError AttributeError BaseException Exception False FileNotFoundError
        ImportError IndexError KeyError LookupError NotImplementedError OSError PermissionError RuntimeError
        StopIteration SyntaxError TimeoutError TypeError UnicodeDecodeError ValueError Warning bool
        bytearray bytes classmethod complex dict float frozenset int list memoryview object property range
        set slice staticmethod str super tuple type
    """,
    "jsts": """
        Array ArrayBuffer BigInt Boolean Date Element Error Event EventTarget Function HTMLElement Map
        Number Object Omit Partial Pick Promise Proxy RangeError ReadonlyArray Record RegExp Request
        Required Response Set String Symbol TypeError URL Uint8Array WeakMap WeakSet any boolean never null
        number object string undefined unknown void
    """,
    "jvm": """
        Boolean Byte Character Class Comparable Double Enum Error Exception Float IllegalArgumentException
        IllegalStateException Integer Iterable Long Math Number Object Override Record Runnable
        RuntimeException Short String StringBuilder System Thread Throwable Void
    """,
    "dotnet": """
        bool byte char decimal double dynamic float int long nint object sbyte short string uint ulong
        ushort var void
    """,
    "go": """
        any bool byte comparable complex128 complex64 error float32 float64 int int64 rune string uint
        uintptr
    """,
    "rust": """
        Box Clone Copy Debug Default Drop Err Fn FnMut FnOnce None Ok Option Result Self Some String
        ToString Vec bool str
    """,
    "ruby": """
        Array BasicObject Class Exception Hash Integer Module Object StandardError String Struct Symbol
    """,
    "php": """
        ArrayAccess Closure Countable DateTime Error Exception Iterator JsonSerializable Stringable
        Throwable Traversable
    """,
}
_GIVEN_TO = {family: frozenset(names.split()) for family, names in _GIVEN.items()}


def family_of(path: str | None) -> str | None:
    """Return the family of languages of a file by its suffix; None for what is no code, or unknown."""
    return _BY_SUFFIX.get(path.rpartition(".")[2].lower()) if path else None


def given(family: str | None, name: str) -> bool:
    """Tell whether a language has this name of its own."""
    return name in _GIVEN_TO.get(family or "", ())
