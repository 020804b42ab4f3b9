"""Ten planted secrets go, counters and references stay."""

from __future__ import annotations

import pytest
from studio.agents.redaction import Redactor, redact

CANARIES = [
    "Authorization: Bearer abcdef0123456789",
    "sk-proj-abcdefghijkl",
    "sk-ant-api03-abcdefgh",
    "gsk_abcdefghijkl",
    "AIzaSyA0123456789abcdefghijklmnop",
    "ghp_abcdefghijklmnop1234",
    "hf_abcdefghijklmnopqrst",
    "AKIAABCDEFGHIJKLMNOP",
    "xoxb-1234567890-abc",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
    "https://user:hunter2@host/x",
    "http://host/x?key=abcdef&y=1",
]


@pytest.mark.parametrize("canary", CANARIES)
def test_patterns(canary: str) -> None:
    found = redact(f"before {canary} after")
    assert "[secret]" in found
    assert found.startswith("before ")
    assert found.endswith(" after")
    for piece in ("abcdef0123456789", "hunter2", "MIIabc", "abcdefghijkl", "key=abcdef", "eyJzdWIi"):
        assert piece not in found


def test_names() -> None:
    given = {
        "api_key": "x1",
        "OPENAI_API_KEY": "x2",
        "client-secret": "x3",
        "max_tokens": "100",
        "prompt_tokens": "5",
        "completion_tokens": 7,
        "key_ref": "env:NAME",
        "token": "env:NAME",
        "password": "keychain:7",
        "nested": [{"Authorization": "x4"}],
        "tokenizer": "cl100k",
    }
    assert redact(given) == {
        **given,
        "api_key": "[secret]",
        "OPENAI_API_KEY": "[secret]",
        "client-secret": "[secret]",
        "nested": [{"Authorization": "[secret]"}],
    }


def test_known_values_longest_first() -> None:
    redactor = Redactor(["secret-value", "secret-value-long", "short"])
    assert redactor.text("a secret-value-long b secret-value c short") == "a [secret] b [secret] c short"
    assert redactor.found == {"known secret"}


def test_ordinary_text_stays() -> None:
    text = "The basic idea: bearer of news, see https://host/x?page=2 and skeleton keys, ask-me-anything"
    assert redact(text) == text
