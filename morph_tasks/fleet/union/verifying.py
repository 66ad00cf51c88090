"""Prove a union, and when it is red find out whose doing that is; what wavers is said to waver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from morph_tasks.fleet.union.guilty import Blame, UndecidedError, blame
from morph_tasks.fleet.union.proof import Proof, red_node

if TYPE_CHECKING:
    from morph_tasks.fleet.union.joining import Joined, Joiner
    from morph_tasks.fleet.union.proof import Prover, Say

PASS, FAIL, FLAKY = "pass", "fail", "flaky"


@dataclass(frozen=True)
class Verified:
    """What the proof of a union came to. `guilty`: None when it is green or cannot be told; empty: the default branch.

    `status`: `pass`, `fail`, or `flaky` when a red node was green the next time.
    """

    status: str
    proof: Proof
    red: tuple[dict[str, Any], ...] = ()
    guilty: tuple[str, ...] | None = None
    why: str = ""
    probes: tuple[dict[str, Any], ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "nodes": self.proof.verdict.nodes,
            "runs": self.proof.runs(),
            "measured": self.proof.measured,
            "reused": self.proof.reused,
            "red": list(self.red),
            "guilty": list(self.guilty) if self.guilty is not None else None,
            "why": self.why,
            "probes": list(self.probes),
        }


def verify(joined: Joined, joiner: Joiner, prover: Prover, say: Say, default: str) -> Verified:
    """Measure a union and, when it is red, name the guilty; raises Refusal `busy` (exit 3), `submodules`, …"""
    count = len(joined.merged)
    say(f"measuring {default} with {count} feature{'s' * (count != 1)}")
    proof = prover.prove(joined)
    if proof.green:
        return Verified(PASS, proof)
    red = tuple(red_node(outcome) for outcome in proof.red)
    if not red:
        return Verified(FAIL, proof, why="nothing was verified: no node ran")
    search = _Search(joined, joiner, prover, say)
    try:
        search.settle(proof)
    except UndecidedError as error:
        return Verified(FLAKY, proof, red, None, f"not decided: {error}")
    found = blame(joined.merged, search.red)
    if found.decided and found.guilty:
        found = search.confirmed(found)
    said = _told(found, default) if found.decided else f"not decided: {found.why}"
    guilty = found.guilty if found.decided else None
    return Verified(FAIL, proof, red, guilty, said, tuple(search.probes))


@dataclass
class _Search:
    joined: Joined
    joiner: Joiner
    prover: Prover
    say: Say
    refs: tuple[str, ...] = ()
    probes: list[dict[str, Any]] = field(default_factory=list)
    _known: dict[str, bool] = field(default_factory=dict)

    def settle(self, first: Proof) -> None:
        """Measure what was red once more: only what stays red can be traced."""
        refs = [outcome.node.ref for outcome in first.red]
        self._refuse_flaky(first)
        self.say(f"measuring {', '.join(refs)} once more")
        again = self.prover.prove(self.joined, only=refs)
        self._refuse_flaky(again)
        still = [outcome.node.ref for outcome in again.red if outcome.node.ref in refs]
        if not still:
            raise UndecidedError(f"{', '.join(refs)} was red, and green on the same code when measured once more")
        self.refs = tuple(still)
        self._known[self.joined.tree] = True

    def red(self, features: frozenset[str]) -> bool:
        """Tell whether the union of some features is red; raises UndecidedError."""
        some = [name for name in self.joined.merged if name in features]
        made = self.joiner.join(some)
        if made.left_out:
            missing = ", ".join(made.left_out)
            raise UndecidedError(f"{missing} cannot be merged without the features that came before it")
        if made.tree not in self._known:
            self.say(f"measuring {' + '.join(['the default branch', *some])}")
            self._known[made.tree] = self._measured(made, some)
        return self._known[made.tree]

    def confirmed(self, found: Blame) -> Blame:
        """Measure the smallest set once more by itself."""
        made = self.joiner.join(found.guilty)
        try:
            if made.tree == self.joined.tree or not self.prover.prove(made, only=self.refs).green:
                return found
            said = f"{' + '.join(found.guilty)} was red, and green on the same code when measured once more"
        except UndecidedError as error:
            said = str(error)
        return Blame((), decided=False, why=said)

    def _measured(self, made: Joined, features: Sequence[str]) -> bool:
        proof = self.prover.prove(made, only=self.refs)
        self._refuse_flaky(proof)
        contradicted = [one for one in proof.verdict.outcomes if one.green and (one.record or {}).get("afterFailures")]
        if not proof.red and contradicted:
            # Green now, red on the very same code before.
            proof = self.prover.prove(made, only=self.refs, fresh=True)
            self._refuse_flaky(proof)
            if proof.red:
                raise UndecidedError(f"{contradicted[0].node.ref} is red and green on the same code")
        self.probes.append(
            {
                "features": list(features),
                "status": FAIL if proof.red else PASS,
                "measured": proof.measured,
                "reused": proof.reused,
            }
        )
        return bool(proof.red)

    def _refuse_flaky(self, proof: Proof) -> None:
        flaky = [outcome.node.ref for outcome in proof.red if outcome.status == "flaky"]
        if flaky:
            raise UndecidedError(f"{', '.join(flaky)} passed only when it was tried again")


def _told(found: Blame, default: str) -> str:
    if not found.guilty:
        return f"{default} is red by itself: no feature is to blame"
    if len(found.guilty) == 1:
        return f"{found.guilty[0]} no longer works with what {default} has become"
    names = " and ".join([", ".join(found.guilty[:-1]), found.guilty[-1]])
    return f"{names} are green without each other and red together"
