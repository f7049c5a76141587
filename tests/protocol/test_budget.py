from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from protocol.budget import DIMENSIONS, MAX_COUNT, Amounts, BudgetExceeded, Ceiling, Meter, whole_microseconds

CEILING = Ceiling(steps=10, tokens=1_000, tool_calls=10, cost_microusd=500, cpu_s=1.0)


def amounts(most: int = 50) -> st.SearchStrategy[Amounts]:
    count = st.integers(0, most)
    return st.builds(Amounts, count, count, count, count, st.integers(0, most * 10**5).map(lambda us: us / 10**6))


def as_limit(granted: Amounts) -> Ceiling:
    return Ceiling(granted.steps, granted.tokens, granted.tool_calls, granted.cost_microusd, granted.cpu_s)


def capped(wanted: Amounts, most: Amounts) -> Amounts:
    return Amounts(*(min(wanted.of(d), most.of(d)) for d in DIMENSIONS))  # type: ignore[arg-type]  # by dimension


def left(meter: Meter) -> Amounts:
    return Amounts(*(meter.available(d) or 0 for d in DIMENSIONS))  # type: ignore[arg-type]  # by dimension


def test_a_hold_a_commit_and_a_release_move_amounts_between_the_columns() -> None:
    meter = Meter(CEILING).hold(Amounts(steps=1, tokens=600))
    assert (meter.available("tokens"), meter.held.tokens) == (400, 600)
    meter = meter.commit(Amounts(steps=1, tokens=600), Amounts(steps=1, tokens=150))
    assert (meter.available("tokens"), meter.spent.tokens, meter.held.tokens) == (850, 150, 0)
    assert meter.hold(Amounts(tokens=850)).release(Amounts(tokens=850)) == meter


@pytest.mark.parametrize("take", [Meter.hold, Meter.mint])
def test_what_does_not_fit_is_refused_naming_the_first_dimension(take) -> None:  # type: ignore[no-untyped-def]  # a method
    meter = Meter(CEILING, spent=Amounts(tokens=400))
    with pytest.raises(BudgetExceeded, match="^tokens: 601 wanted, 600 available$") as caught:
        take(meter, Amounts(steps=10, tokens=601, cost_microusd=501))
    assert (caught.value.dimension, caught.value.wanted, caught.value.available) == ("tokens", 601, 600)
    assert take(meter, Amounts(tokens=600)).available("tokens") == 0


def test_a_limit_of_none_is_not_enforced_and_a_limit_of_zero_is() -> None:
    unpriced = Meter(Ceiling(cost_microusd=None)).hold(Amounts(cost_microusd=10**12))
    assert unpriced.available("cost_microusd") is None
    assert unpriced.over() is None
    with pytest.raises(BudgetExceeded):
        Meter(Ceiling(cost_microusd=0)).hold(Amounts(cost_microusd=1))


def test_reported_use_over_the_hold_is_a_fact_and_is_recorded_as_overshoot() -> None:
    meter = Meter(CEILING).hold(Amounts(tokens=900)).commit(Amounts(tokens=900), Amounts(tokens=1_200))
    assert (meter.spent.tokens, meter.available("tokens"), meter.over()) == (1_200, 0, "tokens")
    assert meter.overshoot == Amounts(tokens=200)
    meter.check_invariants()


def test_an_overshoot_inside_the_limit_is_none() -> None:
    meter = Meter(CEILING).hold(Amounts(tokens=100)).commit(Amounts(tokens=100), Amounts(tokens=300))
    assert meter.overshoot.is_zero()


def test_a_commit_of_more_than_is_held_or_of_a_negative_use_is_our_bug() -> None:
    meter = Meter(CEILING).hold(Amounts(tokens=10))
    with pytest.raises(ValueError, match="tokens: takes 11 out of 10 held"):
        meter.commit(Amounts(tokens=11), Amounts())
    with pytest.raises(ValueError, match="tokens: -1 is negative"):
        meter.commit(Amounts(tokens=10), Amounts(tokens=-1))
    with pytest.raises(ValueError, match="negative"):
        meter.hold(Amounts(steps=-1))
    with pytest.raises(ValueError, match="negative"):
        meter.release(Amounts(tokens=-5))


def test_a_settled_child_gives_back_the_rest_and_its_open_holds_are_charged_as_unknown() -> None:
    grant = Amounts(tokens=500)
    parent = Meter(CEILING).mint(grant)
    child = Meter(as_limit(grant)).hold(Amounts(tokens=100)).commit(Amounts(tokens=100), Amounts(tokens=80))
    parent = parent.settle(grant, child.hold(Amounts(tokens=200)))
    assert (parent.spent.tokens, parent.granted.tokens, parent.available("tokens")) == (280, 0, 720)
    assert parent.charged_unknown == Amounts(tokens=200)


def test_a_child_with_grants_out_cannot_be_settled_for_their_spend_would_be_lost() -> None:
    grant = Amounts(tokens=500)
    parent, child = Meter(CEILING).mint(grant), Meter(as_limit(grant)).mint(Amounts(tokens=10))
    with pytest.raises(ValueError, match="settle what is below it first"):
        parent.settle(grant, child)


def test_a_grant_cannot_be_taken_back_twice() -> None:
    grant = Amounts(tokens=500)
    parent = Meter(CEILING).mint(grant).settle(grant, Meter(as_limit(grant)))
    with pytest.raises(ValueError, match="tokens: takes 500 out of 0 granted"):
        parent.settle(grant, Meter(as_limit(grant)))


def test_a_report_never_goes_back_in_any_dimension() -> None:
    meter = Meter(CEILING).report(Amounts(tokens=500, steps=1), Amounts(tokens=100))
    meter = meter.report(Amounts(tokens=400, steps=2), Amounts())
    assert (meter.spent, meter.held) == (Amounts(tokens=500, steps=2), Amounts())


def test_a_report_repeated_or_lost_makes_no_difference() -> None:
    last = Amounts(tokens=700), Amounts(tokens=50)
    direct = Meter(CEILING).report(*last)
    assert Meter(CEILING).report(Amounts(tokens=300), Amounts(tokens=90)).report(*last).report(*last) == direct


def test_a_child_that_reports_more_than_its_grant_is_seen_to_be_over_it() -> None:
    meter = Meter(CEILING).report(Amounts(tokens=900), Amounts(tokens=200))
    assert (meter.over(), meter.overshoot) == ("tokens", Amounts(tokens=100))
    meter.check_invariants()


def test_a_report_of_less_than_nothing_is_refused_in_memory_and_on_the_wire() -> None:
    with pytest.raises(ValueError, match="negative"):
        Meter(CEILING).report(Amounts(), Amounts(tokens=-1_000))
    for text in (b'{"tokens":-1}', b'{"cpu_s":-0.5}', b'{"tokens":%d}' % (MAX_COUNT + 1)):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(text, type=Amounts)


def test_tenths_of_a_second_add_up_to_nothing_left() -> None:
    meter = Meter(Ceiling(cpu_s=0.3))
    for _ in range(3):
        meter = meter.hold(Amounts(cpu_s=0.1))
    assert meter.available("cpu_s") == 0
    for _ in range(3):
        meter = meter.commit(Amounts(cpu_s=0.1), Amounts(cpu_s=0.1))
    assert (meter.held.cpu_s, meter.spent.cpu_s) == (0.0, 0.3)
    assert meter.overshoot.is_zero()


@given(st.lists(st.floats(0, 10_000), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_cpu_seconds_never_drift_in_whatever_order_they_come_and_go(parts: list[float], random) -> None:  # type: ignore[no-untyped-def]  # hypothesis
    held = [Amounts(cpu_s=part) for part in parts]
    meter = Meter(Ceiling(cpu_s=sum((a.cpu_s for a in held), 0.0)))
    for part in held:
        meter = meter.hold(part)
    assert meter.available("cpu_s") == 0
    random.shuffle(held)
    for part in held:
        meter = meter.commit(part, part)
    assert meter.held.cpu_s == 0
    assert meter.over() is None
    meter.check_invariants()


def test_amounts_survive_the_wire_exactly() -> None:
    sent = Amounts(1, 2, 3, 4, 0.1 + 0.2)
    assert sent.cpu_s == 0.3
    assert msgspec.json.decode(msgspec.json.encode(sent), type=Amounts) == sent


class TwoLevels(RuleBasedStateMachine):
    """A root with children, all metered by the code under test, beside a plain sum of what was really used."""

    @initialize(ceiling=amounts(200).map(as_limit))
    def start(self, ceiling: Ceiling) -> None:
        self.root = Meter(ceiling)
        self.children: dict[int, tuple[Amounts, Meter]] = {}
        self.holds: dict[int, list[Amounts]] = {0: []}
        self.used = Amounts()
        self.excused = Amounts()
        self.born = 0

    def meter_of(self, node: int) -> Meter:
        return self.root if node == 0 else self.children[node][1]

    def store(self, node: int, meter: Meter) -> None:
        if node == 0:
            self.root = meter
        else:
            self.children[node] = (self.children[node][0], meter)

    @rule(wanted=amounts(), fit=st.booleans())
    def mint(self, wanted: Amounts, fit: bool) -> None:
        wanted = capped(wanted, left(self.root)) if fit else wanted
        try:
            self.root = self.root.mint(wanted)
        except BudgetExceeded:
            assert not fit
            return
        self.born += 1
        self.children[self.born] = (wanted, Meter(as_limit(wanted)))
        self.holds[self.born] = []

    @rule(pick=st.integers(0, 5), wanted=amounts(), fit=st.booleans())
    def hold(self, pick: int, wanted: Amounts, fit: bool) -> None:
        node = sorted(self.holds)[pick % len(self.holds)]
        wanted = capped(wanted, left(self.meter_of(node))) if fit else wanted
        try:
            self.store(node, self.meter_of(node).hold(wanted))
        except BudgetExceeded:
            assert not fit
            return
        self.holds[node].append(wanted)

    @precondition(lambda self: any(self.holds.values()))
    @rule(pick=st.integers(0, 20), used=amounts(), over=amounts(5) | st.just(Amounts()))
    def commit(self, pick: int, used: Amounts, over: Amounts) -> None:
        """Within the estimate, or over it by `over`: a provider's error."""
        owners = [node for node in sorted(self.holds) for _ in self.holds[node]]
        node = owners[pick % len(owners)]
        held = self.holds[node].pop()
        used = capped(used, held) + over
        self.store(node, self.meter_of(node).commit(held, used))
        self.used += used
        self.excused += over

    @precondition(lambda self: self.children)
    @rule(pick=st.integers(0, 5))
    def settle(self, pick: int) -> None:
        """A child ends, however: what it holds open is charged."""
        node = sorted(self.children)[pick % len(self.children)]
        granted, child = self.children.pop(node)
        for held in self.holds.pop(node):
            self.used += held
        self.root = self.root.settle(granted, child)

    @precondition(lambda self: self.children)
    @rule(pick=st.integers(0, 5))
    def report(self, pick: int) -> None:
        """The supervisor's copy of a child follows absolute figures, however stale."""
        node = sorted(self.children)[pick % len(self.children)]
        meter = self.meter_of(node)
        assert meter.report(meter.spent, meter.held) == meter
        assert meter.report(Amounts(), meter.held) == meter

    @invariant()
    def the_law_holds_at_every_node(self) -> None:
        for meter in (self.root, *(child for _, child in self.children.values())):
            meter.check_invariants()
            for dimension in DIMENSIONS:
                bound = meter.limit.of(dimension)
                assert bound is not None
                allowed = whole_microseconds(bound + self.excused.of(dimension))
                assert meter.committed().of(dimension) <= allowed

    @invariant()
    def without_a_providers_error_nothing_is_ever_over(self) -> None:
        if self.excused.is_zero():
            assert self.root.over() is None
            assert self.root.overshoot.is_zero()

    @invariant()
    def spend_is_the_sum_of_what_every_node_spent(self) -> None:
        total = self.root.spent
        for _, child in self.children.values():
            total += child.spent
        assert total == self.used

    def teardown(self) -> None:
        if not hasattr(self, "root"):
            return
        while self.children:
            self.settle(0)
        self.used += self.root.held
        self.root = self.root.charge_open_holds()
        assert self.root.spent == self.used
        assert self.root.granted.is_zero()
        assert self.root.held.is_zero()
        self.root.check_invariants()


TwoLevels.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestTheLawInATreeOfTwoLevels = TwoLevels.TestCase


def test_the_invariants_catch_a_meter_that_breaks_the_law() -> None:
    for broken in (
        Meter(CEILING, held=Amounts(tokens=1_001)),
        Meter(CEILING, granted=Amounts(tokens=600), held=Amounts(tokens=600)),
        Meter(CEILING, charged_unknown=Amounts(tokens=1)),
        Meter(CEILING, held=Amounts(tokens=-1)),
    ):
        with pytest.raises(AssertionError):
            broken.check_invariants()
