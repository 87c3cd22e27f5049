"""What a browser is told to ask an authenticator for: the words of `navigator.credentials` (WebAuthn), as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class BrowserWords(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class KnownCredential(BrowserWords):
    id: str
    type: Literal["public-key"]


class PasskeySite(BrowserWords):
    name: str
    id: str


class PasskeyUser(BrowserWords):
    id: str
    name: str
    display_name: str


class KeyKind(BrowserWords):
    type: Literal["public-key"]
    alg: int


class AuthenticatorWishes(BrowserWords):
    resident_key: Literal["required"]
    require_resident_key: bool
    user_verification: Literal["required"]


class SigningOptions(BrowserWords):
    challenge: str
    timeout: int
    rp_id: str
    allow_credentials: list[KnownCredential]
    user_verification: Literal["required"]


class MakingOptions(BrowserWords):
    rp: PasskeySite
    user: PasskeyUser
    challenge: str
    pub_key_cred_params: list[KeyKind]
    timeout: int
    exclude_credentials: list[KnownCredential]
    authenticator_selection: AuthenticatorWishes
    attestation: Literal["none"]


@dataclass
class ChallengeAnswer:
    """`ticket`: goes back with what was signed."""

    ticket: str
    options: SigningOptions


@dataclass
class OfferAnswer:
    """`ticket`: goes back with what was made."""

    ticket: str
    options: MakingOptions


@dataclass
class NewPasskeyAnswer:
    id: str
