"""Tokens: renewed in time, not asked for in a storm, and never shown."""

import pytest

from kafka_reader import tokens
from kafka_reader.tokens import REST_S, Token, TokenError, Tokens, parse_token, token_request
from settings import Secret, Security

NOW_S = 1_000_000.0


@pytest.fixture
def bearer(tmp_path):
    path = tmp_path / "secret"
    path.write_text("s3cret")
    return Security(
        protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        token_endpoint="https://issuer.invalid/token",
        client_id="tide mark",
        client_secret=Secret(file=str(path)),
        scope="kafka",
    )


def test_the_endpoint_is_asked_by_client_credentials(bearer):
    request = token_request(bearer)

    assert request.data == b"grant_type=client_credentials&scope=kafka"
    assert request.headers["Authorization"] == "Basic dGlkZSttYXJrOnMzY3JldA=="


@pytest.mark.parametrize("answer", [b"", b"{}", b"[]", b"<html>", b'{"access_token": "x", "expires_in": "soon"}'])
def test_an_answer_without_a_token_is_an_error(answer):
    with pytest.raises(TokenError, match="no access_token"):
        parse_token(answer, NOW_S)


def test_a_token_lasts_as_long_as_the_endpoint_says():
    assert parse_token(b'{"access_token": "x", "expires_in": 60}', NOW_S) == Token("x", NOW_S + 60)


def test_a_token_is_never_shown():
    assert "hunter2" not in repr(Token("hunter2", NOW_S))


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now_s = NOW_S

    monkeypatch.setattr(tokens.time, "time", lambda: Clock.now_s)
    return Clock


def test_a_token_is_used_until_most_of_its_life_is_over(bearer, clock, monkeypatch):
    asked = []
    monkeypatch.setattr(tokens, "fetch_token", lambda _, now_s: asked.append(now_s) or Token(f"{now_s}", now_s + 100))
    source = Tokens(bearer)

    given = []
    for clock.now_s in (NOW_S, NOW_S + 79, NOW_S + 81):
        given.append(source.current())

    assert given == [f"{NOW_S}", f"{NOW_S}", f"{NOW_S + 81}"]
    assert asked == [NOW_S, NOW_S + 81]


def test_an_endpoint_that_fails_rests_and_is_asked_again(bearer, clock, monkeypatch):
    asked = []

    def fail(_, now_s):
        asked.append(now_s)
        raise TokenError("the token endpoint answered 503")

    monkeypatch.setattr(tokens, "fetch_token", fail)
    source = Tokens(bearer)

    for clock.now_s in (NOW_S, NOW_S + 1, NOW_S + REST_S + 1):
        with pytest.raises(TokenError, match="503"):
            source.current()

    assert asked == [NOW_S, NOW_S + REST_S + 1]
