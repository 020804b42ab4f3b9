"""How often a stream is read, with a clock under test control."""

from __future__ import annotations

import pytest
from studio.agents import pacing
from studio.agents.pacing import PACE, PacedReads


class Network:
    """A network stream and the time it takes: each piece has the moment at which it arrives."""

    def __init__(self, *pieces: tuple[float, bytes]) -> None:
        self.pieces = list(pieces)
        self.now = 0.0
        self.reads: list[float] = []
        """When each read was over."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - as httpcore2 calls it
        assert (max_bytes, timeout) == (65536, 300.0)
        if not self.pieces:
            raise ConnectionResetError
        self.now = max(self.now, self.pieces[0][0])
        there = [data for moment, data in self.pieces if moment <= self.now]
        self.pieces = self.pieces[len(there) :]
        self.reads.append(round(self.now, 6))
        return b"".join(there)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def on_clock(monkeypatch: pytest.MonkeyPatch, network: Network) -> None:
    monkeypatch.setattr(pacing, "perf_counter", lambda: network.now)
    monkeypatch.setattr(pacing.asyncio, "sleep", network.sleep)


async def read_all(network: Network, paced: PacedReads) -> bytes:
    found = b""
    with paced:
        while network.pieces:
            found += await network.read(65536, 300.0)
    return found


async def test_a_fast_stream_is_read_once_per_tick_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(*((0.005 * n, b"%d " % n) for n in range(1, 20)))
    on_clock(monkeypatch, network)
    paced = PacedReads(network)
    assert (await read_all(network, paced)).split() == [b"%d" % n for n in range(1, 20)]
    assert network.reads == [round(PACE * n, 6) for n in range(1, 7)]
    assert paced.returned == pytest.approx(PACE * 6)


async def test_ticks_are_the_same_for_all_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network((0.0071, b"a"), (0.0272, b"b"), (0.0273, b"c"))
    network.now = 0.0071
    on_clock(monkeypatch, network)
    await read_all(network, PacedReads(network))
    assert network.reads == [PACE, 2 * PACE]


async def test_a_token_that_comes_alone_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network((0.1, b"a"), (0.2, b"b"), (0.3, b"c"))
    on_clock(monkeypatch, network)
    await read_all(network, PacedReads(network))
    assert network.reads == [0.1, 0.2, 0.3]


async def test_the_stream_is_what_it_was_after_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network()
    on_clock(monkeypatch, network)
    with pytest.raises(ConnectionResetError), PacedReads(network):
        await vars(network)["read"](65536, 300.0)
    assert "read" not in vars(network)


def test_without_a_network_stream_nothing_is_paced() -> None:
    with PacedReads(None) as paced:
        assert paced.returned > 0
