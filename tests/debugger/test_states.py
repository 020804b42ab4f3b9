"""The table of the run's state machine, written out a second time in words that can be checked."""

from __future__ import annotations

import itertools

import pytest
from studio.debugger.states import ACTIVE, ENDED, TRANSITIONS, Command, Happening, IllegalCommand, RunState, after

TABLE = """
                idle       preparing  running    pausing    paused     stepping   waiting    stopping
run             preparing  -          -          -          -          -          -          -
step            preparing  -          -          -          stepping   -          -          -
continue        -          -          -          running    running    running    -          -
pause           -          pausing    pausing    -          -          pausing    -          -
stop            -          stopping   stopping   stopping   stopping   stopping   stopping   -
answer          -          -          running    pausing    paused     stepping   running    -
restore         paused     -          -          -          -          -          -          -
prepared        -          running    running    pausing    -          stepping   -          stopping
breakpoint_hit  -          -          pausing    pausing    paused     pausing    -          stopping
held            -          -          paused     paused     paused     paused     -          stopping
went_on         -          -          running    pausing    pausing    stepping   -          stopping
questions_left  -          -          waiting    waiting    waiting    waiting    -          -
completed       -          -          completed  completed  -          completed  -          completed
cancelled       -          cancelled  cancelled  cancelled  cancelled  cancelled  cancelled  cancelled
failed          -          failed     failed     failed     failed     failed     failed     failed
"""


def _expected() -> dict[tuple[Command | Happening, RunState], RunState | None]:
    head, *rows = TABLE.strip("\n").splitlines()
    states = [RunState(name) for name in head.split()]
    triggers = {t.name.lower(): t for t in (*Command, *Happening)}
    triggers |= {"completed": Happening.COMPLETED, "cancelled": Happening.CANCELLED, "failed": Happening.FAILED}
    found: dict[tuple[Command | Happening, RunState], RunState | None] = {}
    for row in rows:
        name, *cells = row.split()
        assert len(cells) == len(states)
        for state, cell in zip(states, cells, strict=True):
            found[triggers[name], state] = None if cell.startswith("-") else RunState(cell)
    return found


EXPECTED = _expected()


@pytest.mark.parametrize(
    ("trigger", "state"), list(itertools.product((*Command, *Happening), RunState)), ids=lambda v: str(v)
)
def test_transition(trigger: Command | Happening, state: RunState) -> None:
    expected = EXPECTED.get((trigger, state))
    if expected is not None:
        assert after(trigger, state) is expected
    else:
        with pytest.raises(IllegalCommand) as refused:
            after(trigger, state)
        assert str(state) in str(refused.value)


def test_every_trigger_is_in_the_table() -> None:
    assert set(TRANSITIONS) == {*Command, *Happening}


def test_an_ended_session_takes_nothing_and_every_state_can_be_reached() -> None:
    assert not [t for t, row in TRANSITIONS.items() if ENDED & set(row)]
    reached, frontier = {RunState.IDLE}, {RunState.IDLE}
    while frontier:
        frontier = {row[s] for row in TRANSITIONS.values() for s in frontier if s in row} - reached
        reached |= frontier
    assert reached == set(RunState)
    assert frozenset(RunState) == ACTIVE | ENDED | {RunState.IDLE}
