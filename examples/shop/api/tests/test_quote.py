from __future__ import annotations

import json
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from shop.app import app


def quote(goods: str) -> tuple[str, Any]:
    environ: dict[str, Any] = {"PATH_INFO": "/quote", "QUERY_STRING": f"goods={goods}"}
    setup_testing_defaults(environ)
    said: list[str] = []
    body = b"".join(app(environ, lambda status, headers: said.append(status)))
    return said[0], json.loads(body)


@pytest.mark.scenario("C1")
def test_an_order_of_100_gets_ten_percent_off() -> None:
    assert quote("10000") == ("200 OK", {"goods": 10000, "price": 9000})


@pytest.mark.scenario("C1")
def test_an_order_below_100_pays_in_full() -> None:
    assert quote("9999") == ("200 OK", {"goods": 9999, "price": 9999})


@pytest.mark.parametrize("goods", [pytest.param("", id="[C2]"), pytest.param("-1", id="negative [C2]")])
def test_what_is_no_number_of_cents_is_refused(goods: str) -> None:
    status, body = quote(goods)
    assert (status[:3], body["field"]) == ("422", "goods")
