"""dotnet test, on outputs that mislead, in several languages."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest


def line(failed: int, passed: int, skipped: int = 0, name: str = "Shop.Tests") -> str:
    word = "Failed!" if failed else "Passed!"
    total = failed + passed + skipped
    return f"{word}  - Failed: {failed:5}, Passed: {passed:5}, Skipped: {skipped:5}, Total: {total:5}, Duration: 12 ms - {name}.dll (net8.0)\n"


def block(total: int, failed: int, passed: int, skipped: int, head: str = "Test run summary: Passed!") -> str:
    return f"{head}\n  total: {total}\n  failed: {failed}\n  succeeded: {passed}\n  skipped: {skipped}\n  duration: 1s 234ms\n"


CASES: list[Any] = [
    pytest.param(
        "=== TEST EXECUTION SUMMARY ===\n   Shop.Tests  Total: 5, Errors: 0, Failed: 1, Skipped: 1, Not Run: 0, Time: 0.012s\n",
        1,
        "fail",
        {"counts": {"passed": 3, "failed": 1, "skipped": 1}},
        id="xunit's own runner",
    ),
    pytest.param(
        "Aprovado!  – Com falha:     0, Aprovado:     5, Ignorado:     1, Total:     6, Duração: 12 ms - Loja.Testes.dll (net8.0)\n",
        0,
        "pass",
        {"counts": {"passed": 5, "skipped": 1, "total": 6}},
        id="Portuguese, en dash",
    ),
    pytest.param(
        "Com falha!  – Com falha:     2, Aprovado:     5, Ignorado:     0, Total:     7, Duração: 12 ms - Loja.Testes.dll (net8.0)\n",
        0,
        "fail",
        {"counts": {"failed": 2}, "inconsistent_exit": True},
        id="Portuguese, red, exit 0",
    ),
    pytest.param(
        "Bestanden!   : Fehler:     0\nFehler!      - Fehler:     1, erfolgreich:     2, übersprungen:     0, gesamt:     3, Dauer: 12 ms - X.dll (net8.0)\n",
        1,
        "fail",
        {"counts": {"failed": 1, "passed": 2}},
        id="German",
    ),
    pytest.param(
        "Total de testes: 5\n     Aprovados: 3\n     Com falha: 1\n    Ignorados: 1\n Tempo total: 1,2 Segundos\n",
        1,
        "fail",
        {"counts": {"passed": 3, "failed": 1, "skipped": 1}},
        id="Portuguese block",
    ),
    pytest.param(
        "Test Run Successful.\nTotal tests: 5\n     Passed: 5\n Total time: 1.2 Seconds\n",
        0,
        "pass",
        {"counts": {"passed": 5, "total": 5}},
        id="English block",
    ),
    pytest.param(
        "Resumo do teste: total: 3; falhou: 0; bem-sucedido: 3; ignorado: 0; duração: 1,2s\n",
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="terminal logger, Portuguese",
    ),
    pytest.param(
        "Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0, duration: 1.2s\nBuild failed with 1 error(s) in 3.4s\n",
        1,
        "fail",
        {"counts": {"failed": 1}, "reason": "tests-failed"},
        id="terminal logger, red",
    ),
    pytest.param(
        "Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0, duration: 1.2s\nBuild failed with 2 error(s) in 3.4s\n",
        1,
        "fail",
        {"reason": "build-failed", "complete": False},
        id="another project did not build",
    ),
    pytest.param(
        "Resumo da execução de teste: Aprovado!\n  total: 4\n  com falha: 0\n  bem-sucedido: 4\n  ignorado: 0\n  duração: 90ms\n",
        0,
        "pass",
        {"counts": {"passed": 4}, "dialect": "dotnet-mtp"},
        id="platform block, Portuguese",
    ),
    pytest.param(
        block(2, 0, 2, 0) + block(0, 0, 0, 0), 0, "pass", {"counts": {"passed": 2}}, id="one of two blocks ran nothing"
    ),
    pytest.param(
        block(3, 0, 3, 0),
        8,
        "fail",
        {"counts": {"passed": 3}, "reason": "module-without-tests"},
        id="a module without tests",
    ),
    pytest.param(block(3, 0, 3, 0), 9, "fail", {"reason": "too-few-tests"}, id="fewer tests than demanded"),
    pytest.param(block(3, 0, 3, 0, "Test run summary: Aborted"), 3, "fail", {"complete": False}, id="aborted"),
    pytest.param(block(3, 0, 3, 0) + "  error: 1\n", 7, "fail", {"reason": "crashed"}, id="crash after a green block"),
    pytest.param(
        line(0, 5) + "The active test run was aborted. Reason: Test host process crashed\nTest Run Aborted.\n",
        1,
        "fail",
        {"reason": "crashed", "complete": False},
        id="test host crashed after a green line",
    ),
    pytest.param(
        " Passed! - Failed: 0, Passed: 99, Skipped: 0, Total: 99\n" + line(0, 5),
        0,
        "pass",
        {"counts": {"passed": 5}},
        id="an echo in a test's messages",
    ),
    pytest.param(
        "  Standard Output Messages:\n total: 9\n failed: 9\n" + block(2, 0, 2, 0),
        0,
        "pass",
        {"counts": {"passed": 2, "failed": 0}},
        id="words of a block in a log",
    ),
    pytest.param(
        "No test matches the given testcase filter `Category=Gone` in /shop/Shop.Tests.dll\n",
        0,
        "no-tests",
        {"counts": None},
        id="filter without match",
    ),
    pytest.param(
        "Nenhum teste corresponde ao filtro de testcase `Category=Gone` em /shop/Shop.Tests.dll\n",
        0,
        "no-tests",
        {},
        id="filter without match, Portuguese",
    ),
    pytest.param(
        "No test matches the given testcase filter `x` in /shop/A.dll\n" + line(0, 5),
        0,
        "pass",
        {"counts": {"passed": 5}},
        id="filter without match in one of two",
    ),
    pytest.param(
        "/shop/A.cs(3,5): error CS0103: The name 'x' does not exist [/shop/A.csproj]\n",
        1,
        "fail",
        {"reason": "build-failed"},
        id="does not compile",
    ),
    pytest.param(line(0, 0, 3), 0, "no-tests", {"reason": "all-skipped"}, id="only skipped"),
    pytest.param(
        "\x1b[31mFailed!  - Failed:     2\x1b[0m, Passed:     9, Skipped:     0, Total:    11, Duration: 1 s - B.dll (net8.0)\n"
        + line(0, 4),
        0,
        "fail",
        {"counts": {"failed": 2, "passed": 13}, "projects": 2},
        id="colours, first of two red",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("dotnet", text, code, verdict, **want)


def test_the_failed_tests_are_named() -> None:
    from morph_tasks.verify.runners.dotnet import failures

    text = "  Failed Shop.Tests.Sum.Adds [12 ms]\n  Error Message:\n   Assert.Equal() Failure\n  Stack Trace:\n     at Shop.Tests.Sum.Adds() in /shop/Sum.cs:line 12\n"
    (found,) = failures(text)
    assert (found.id, found.file, found.line, found.message) == (
        "Shop.Tests.Sum.Adds",
        "/shop/Sum.cs",
        12,
        "Assert.Equal() Failure",
    )
