"""One file per API and one dict of them; each draw is one request, with the polls of its job where it submits one.

No retry, no redirect, no cache anywhere.
"""

from evalaction.endpoints.apis import APIS
from evalaction.endpoints.keys import missing_variables, secrets_of, unset, variables_of
from evalaction.endpoints.request import Request, build_request
from evalaction.endpoints.surface import Call, Slot, Surface, open_surface

__all__ = [
    "APIS", "Call", "Request", "Slot", "Surface", "build_request", "missing_variables", "open_surface", "secrets_of", "unset",
    "variables_of",
]  # fmt: skip
