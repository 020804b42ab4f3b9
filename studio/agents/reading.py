"""Turning what the HTTP client raises into one kind of error, and watching for silence."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType

from studio.agents.answer import Answer
from studio.agents.errors import ProviderError
from studio.agents.failures import from_response


class StallWatch:
    """Ends the reading of an answer after ``seconds`` without a byte; use as ``async with``."""

    def __init__(self, seconds: float, answer: Answer) -> None:
        self._seconds = seconds
        self._answer = answer
        self._timeout = asyncio.timeout(seconds)
        self._moved = 0.0

    async def __aenter__(self) -> StallWatch:
        await self._timeout.__aenter__()
        return self

    @property
    def deadline(self) -> float:
        """When silence ends the reading, in the loop's time."""
        return self._timeout.when() or 0.0

    def alive(self) -> None:
        """Something came. The timer is moved at most a few times per limit: a stream has thousands of pieces."""
        now = asyncio.get_running_loop().time()
        if now - self._moved > self._seconds / 8:
            self._moved = now
            self._timeout.reschedule(now + self._seconds)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError as timeout:
            raise ProviderError(
                "stalled", f"nothing came for {self._seconds:g} s", partial=self._answer.partial
            ) from timeout


@asynccontextmanager
async def provider_errors(answer: Answer | None = None) -> AsyncIterator[None]:
    """Around sending a request (no answer yet) or reading ``answer``: only ProviderError and cancelling get out."""
    import httpx2
    import openai

    partial = answer.partial if answer is not None else ""
    try:
        yield
    except openai.APIStatusError as error:
        response = error.response
        headers = {k.lower(): v for k, v in response.headers.items()}
        failure = from_response(response.status_code, headers, response.text)
        failure.should_retry = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
        raise failure from None
    except openai.APIConnectionError as error:
        raise _connection_error(error) from error
    except openai.OpenAIError as error:
        raise ProviderError("unreadable", str(error), partial=partial) from error
    except httpx2.ReadTimeout as error:
        raise ProviderError("stalled", "nothing more came", partial=_partial(answer)) from error
    except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.StreamError) as error:
        detail = f"after {len(_partial(answer))} characters, the connection was closed"
        raise ProviderError("cut_off", detail, partial=_partial(answer)) from error
    except httpx2.DecodingError as error:
        raise ProviderError("unreadable", str(error), partial=_partial(answer)) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ProviderError("unreachable", str(error), partial=_partial(answer)) from error


def _partial(answer: Answer | None) -> str:
    return answer.partial if answer is not None else ""


def _connection_error(error: Exception) -> ProviderError:
    import httpx2
    import openai

    cause = error.__cause__
    seen: BaseException | None = cause
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return ProviderError("tls", str(seen))
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, openai.APITimeoutError):
        if isinstance(cause, httpx2.ConnectTimeout):
            return ProviderError("unreachable", "no connection in time")
        if isinstance(cause, httpx2.PoolTimeout):
            return ProviderError("timeout", "too many calls at once")
        return ProviderError("timeout", "no answer in time")
    if isinstance(cause, httpx2.RemoteProtocolError | httpx2.ReadError):
        return ProviderError("unreachable", "the server closed the connection without an answer")
    return ProviderError("unreachable", str(cause or error))
