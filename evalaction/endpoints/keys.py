"""Variables that a card names: which are missing, which values must never be shown, and which cannot be sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from evalaction.endpoints.address import Address
from evalaction.errors import NotRunError, UsageError
from evalaction.method.card import Endpoint


def missing_variables(endpoints: Iterable[Endpoint], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Names of variables that these endpoints need and that are not set, empty or blank; sorted."""
    names = {name for endpoint in endpoints for name in variables_of(endpoint)}
    return tuple(sorted(name for name in names if not environ.get(name, "").strip()))


def unset(names: Sequence[str]) -> str:
    """What is said of variables that are not there, without a full stop."""
    return f"These variables are not set, or empty: {', '.join(names)}; set them (an endpoint that needs no key has no `key_env`)"


def secrets_of(endpoints: Iterable[Endpoint], environ: Mapping[str, str]) -> Mapping[str, str]:
    """Variable name to value of all keys, secret headers and addresses that the endpoints name and that are set.

    Of a header value with a scheme ("Bearer …") the part after it is listed too.
    """
    found = {}
    for endpoint in endpoints:
        for name in variables_of(endpoint):
            value = environ.get(name, "").strip()
            if value:
                found[name] = value
                _, space, token = value.rpartition(" ")
                if space:
                    found[f"{name} (token)"] = token
    return found


def variables_of(endpoint: Endpoint) -> Iterator[str]:
    """Every variable an endpoint names; those that its program gets are as secret as a key."""
    yield from (name for name in (endpoint.url_env, endpoint.key_env) if name)
    yield from (header.env for header in endpoint.headers if header.env)
    yield from endpoint.command.env if endpoint.command else ()


def value_of(name: str, environ: Mapping[str, str], endpoint: Endpoint) -> str:
    """Raises NotRunError when the variable is not set, empty or blank."""
    value = environ.get(name, "")
    if not value.strip():
        raise NotRunError(f"Endpoint {endpoint.name} needs the variable {name}, which is not set or is empty.")
    return value


def secret_headers(endpoint: Endpoint, environ: Mapping[str, str], address: Address) -> tuple[str | None, dict[str, str]]:
    """The key and the secret headers by name. Raises UsageError, which shows no value, for what cannot or must not be sent."""
    key = None
    if endpoint.key_env:
        key = value_of(endpoint.key_env, environ, endpoint)
        _refuse_unsendable(key, endpoint.key_env, spaces=False)
    headers = {}
    for header in endpoint.headers:
        if header.env:
            headers[header.name] = value_of(header.env, environ, endpoint)
            _refuse_unsendable(headers[header.name], header.env, spaces=True)
        elif header.value is not None:
            _refuse_unsendable(header.value, f"The header {header.name} of endpoint {endpoint.name}", spaces=True)
    if (key or headers) and not address.secure and not address.loopback:
        raise UsageError(f"Endpoint {endpoint.name} would send a secret over plain http; use an https:// address.")
    return key, headers


def _refuse_unsendable(value: str, what: str, *, spaces: bool) -> None:
    if value.rstrip("\r\n") != value:
        raise UsageError(f"{what} ends with a line break; store the value without it.")
    if value != value.strip():
        raise UsageError(f"{what} has white space around its value; store it without.")
    bad = [sign for sign in value if not ("!" <= sign <= "~" or (spaces and sign == " "))]
    if bad:
        kind = "a line break" if bad[0] in "\r\n" else "white space" if bad[0].isspace() else "a control or non-ASCII character"
        raise UsageError(f"{what} has {kind} in its value; store exactly what the provider gave you.")
