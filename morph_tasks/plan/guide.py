"""The grammar for people: one text that `plan-check --help` prints and the documentation embeds."""

from __future__ import annotations

EXAMPLE = """\
# Cart totals

## Problem
Totals drift by a cent, so customers pay a sum they never saw.

## Scenarios

### C1 — An empty cart cannot be checked out
Given an empty cart, when checkout is posted, then the answer is 422 and names the field.
- proof: test

### C2 — The total is the sum of the lines
Given two lines of 19.99, when the cart is read, then the total is 39.98.
- proof: e2e

## Decisions

### ADR-001 — Totals are integers in cents
**Scope:** feature
Floats drift; cents do not.

### Conflicts with the record
none

## Slices

### F1 — Cart rules
- persona: python-senior
- files: src/cart.py, tests/test_cart.py
- covers: C1, C2
- reuse: CREATE Cart — why: nothing holds lines yet

### F2 — Checkout page
- persona: ui-designer
- files: `src/pages/checkout.html`, `tests/test_checkout.py`
- covers: C1
- depends: F1
- surface: form

## Errata
"""

RULES = """\
Headings and keys may be Portuguese or English, in any case, with or without accents; ids are upper case.
  Problem, Scenarios, Decisions, Slices   ## sections, required (Problema, Cenários, Decisões, Fatias)
  Conflicts with the record               ### in Decisions, required, even `none` (Conflitos com o acervo)
  Implementation contract                 ## optional (Contrato de implementação); so is any other section
  Errata                                  ## optional, the last one; the hash leaves it out

An item is a heading `### C1 — title` (also – - or :); C a scenario, F a slice, ADR-001 a decision.
Its keys are list items or plain lines; a key given twice is an error, but for reuse.
  scenario  proof (prova)          required: test (teste), e2e, eval, manual
  decision  Scope (Alcance)        feature or project (projeto)
  slice     persona                required: an id of agents.json
            files (arquivos)       required: 1 to 8 paths from the root of the tree, commas or code spans
            covers (cobre)         scenarios; each scenario needs a slice that covers it
            depends (depende)      slices that come first; no circles
            surface (superfície)   one of the surfaces of ui-designer
            standards              names, with commas
            reuse (reuso)          REUSE, EXTEND or CREATE (REUSAR, ESTENDER, CRIAR), a symbol, ` — why: …`;
                                   repeatable

A scenario that speaks of files instead of behaviour (grep, contains the string, no file, file exists,
line count, **/) says why in its block: `> Why an artefact: …` (Por que artefato). Code spans do not count.

A plan that changes recorded decisions (.morph/specs/adrs/) has a table in the conflicts; `total` (total)
retires a decision, `partial` (parcial) narrows it to the scope that remains:
  | ADR           | Change  | Scope          |      (ADR | Mudança | Escopo)
  |---------------|---------|----------------|
  | ADR-007       | total   |                |
  | cart--ADR-003 | partial | the admin only |

Fences, HTML comments and block quotes hold text: no headings, no keys, no tables. UTF-8, 1 MiB at most."""


def help_text() -> str:
    """Return rules and example as paragraphs that click prints as they are."""
    return as_written(f"The form of 2-plan/plan.md:\n\n{RULES}\n\nExample:\n\n{EXAMPLE}")


def as_written(text: str) -> str:
    """Mark every paragraph with the sign that keeps click from wrapping it."""
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in text.strip("\n").split("\n\n"))
