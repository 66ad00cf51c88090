"""The API: `GET /quote?goods=<cents>` answers with the price, as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

from shop.prices import discounted

Start = Callable[[str, list[tuple[str, str]]], Any]


def app(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
    """Answer one request (WSGI)."""
    if environ["PATH_INFO"] != "/quote":
        return _answer(start, "404 Not Found", {"error": "there is only /quote"})
    goods = parse_qs(environ.get("QUERY_STRING", "")).get("goods", [""])[0]
    if not goods.isdecimal():
        return _answer(start, "422 Unprocessable Content", {"field": "goods", "error": "a number of cents"})
    return _answer(start, "200 OK", {"goods": int(goods), "price": discounted(int(goods))})


def _answer(start: Start, status: str, body: dict[str, Any]) -> Iterable[bytes]:
    start(status, [("Content-Type", "application/json")])
    return [json.dumps(body).encode()]
