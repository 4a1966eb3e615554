"""The catalog: names and files turned into specs.

A reference is a catalog name, the path of a TOML file, a table with ``use = NAME`` and fields to change, or a full
table. What a catalog entry's profile has calibrated is laid over it. Every file read is remembered with its hash.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import tomllib
import typing
from collections.abc import Mapping
from typing import Any

from perfmodel.errors import MissingCalibration, SpecError, nearest, shown
from perfmodel.spec._base import NamedSpec, build
from perfmodel.spec.families import families, family_of
from perfmodel.spec.fleet import Fleet
from perfmodel.spec.graph import Graph
from perfmodel.spec.hardware import Device, Link
from perfmodel.spec.profile import Profile

DATA = pathlib.Path(__file__).parent / "data"
_ONE_SPEC: Mapping[str, type[NamedSpec]] = {
    "graphs": Graph,
    "devices": Device,
    "links": Link,
    "fleets": Fleet,
    "profiles": Profile,
}
KINDS = ("graphs", "workloads", "devices", "links", "systems", "plans", "fleets", "profiles")


def specs_of(kind: str) -> tuple[type[NamedSpec], ...]:
    """Return the specs that entries of a kind may have: one, or one for each family."""
    return (_ONE_SPEC[kind],) if kind in _ONE_SPEC else tuple(family.of(kind) for family in families().values())


def spec_of(kind: str, table: Mapping[str, Any], where: str) -> type[NamedSpec]:
    """Return the spec of one entry of a kind."""
    return _ONE_SPEC[kind] if kind in _ONE_SPEC else family_of(table, where).of(kind)


def _references(kind: str) -> dict[str, str]:
    """Return the fields of a kind that hold another entry, with its kind."""
    targets = {spec: name for name, spec in _ONE_SPEC.items()}
    return {
        name: targets[inner]
        for spec in specs_of(kind)
        for name, field in spec.model_fields.items()
        for inner in (field.annotation, *typing.get_args(field.annotation))
        if isinstance(inner, type) and inner in targets
    }


#: Fields that hold a reference to another entry, by kind.
REFERENCES: Mapping[str, Mapping[str, str]] = {kind: _references(kind) for kind in ("workloads", "systems")}
#: The profile of the machine at hand, which is nowhere until it is measured.
THIS_MACHINE = "this-machine"
#: What names an entry: a catalog name or the path of a TOML file, or its table.
Reference = str | os.PathLike[str] | Mapping[str, Any]
_LARGEST_SPEC = 64 * 2**20


def own_profiles() -> pathlib.Path:
    """Return the folder of the profiles that ``perfmodel calibrate`` wrote: ``PERFMODEL_PROFILES``, or the user's data."""
    given = os.environ.get("PERFMODEL_PROFILES")
    if given:
        return pathlib.Path(given)
    data = os.environ.get("XDG_DATA_HOME") or pathlib.Path("~/.local/share").expanduser()
    return pathlib.Path(data) / "perfmodel" / "profiles"


@functools.cache
def _shipped(kind: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (DATA / kind).glob("*.toml")))


def names(kind: str) -> tuple[str, ...]:
    """Return the catalog's names of one kind, sorted; the user's own profiles are among its profiles."""
    if kind != "profiles":
        return _shipped(kind)
    return tuple(sorted({*_shipped(kind), *(path.stem for path in own_profiles().glob("*.toml"))}))


def path_of(kind: str, name: str) -> pathlib.Path:
    """Return the file of a catalog entry; a profile that the user made comes before a shipped one of its name."""
    own = own_profiles() / f"{name}.toml"
    return own if kind == "profiles" and own.exists() else DATA / kind / f"{name}.toml"


def shipped_table(kind: str, name: str) -> dict[str, Any]:
    """Return the table of a catalog entry as its file has it."""
    path = path_of(kind, name)
    return parse_toml(read_bytes(path), str(path))


class Reader:
    """Reads specs and remembers which files they came from.

    Parameters
    ----------
    profile : Profile, optional
        Laid over every entry, after the entry's own profile.
    """

    def __init__(self, profile: Profile | None = None) -> None:
        self.inputs: dict[str, str] = {}
        self.profiles: dict[str, Profile] = {}
        self._override = profile
        if profile is not None:
            self.profiles[profile.name] = profile

    def table(self, kind: str, reference: Reference, where: str) -> dict[str, Any]:
        """Return the full table of a reference: read, references within it resolved, profiles laid over."""
        if isinstance(reference, os.PathLike):
            reference = os.fspath(reference)
        if isinstance(reference, str):
            table, entry = self._file(kind, reference, where)
            if "use" in table:
                return self.table(kind, table, where)
        elif not isinstance(reference, Mapping):
            raise SpecError(where, f"must be a name of the catalog's {kind}, a TOML file or a table", shown(reference))
        elif "use" in reference:
            used = reference["use"]
            if not isinstance(used, str):
                raise SpecError(f"{where}: use", f"must be a name of the catalog's {kind} or a TOML file", shown(used))
            changes = {key: value for key, value in reference.items() if key != "use"}
            base = self.table(kind, used, where)
            for field, target in REFERENCES.get(kind, {}).items():
                inner = changes.get(field)
                if isinstance(inner, str) or (isinstance(inner, Mapping) and "use" in inner):
                    base[field] = self.table(target, changes.pop(field), f"{where}: {field}")
            return merged(base, changes)
        else:
            table, entry = dict(reference), ""
        for field, target in REFERENCES.get(kind, {}).items():
            inner = table.get(field)
            if isinstance(inner, (str, Mapping)):
                table[field] = self.table(target, inner, f"{where}: {field}")
        name = table.get("name")
        return self._calibrated(table, entry or f"{kind}/{name if isinstance(name, str) else ''}")

    def _file(self, kind: str, reference: str, where: str) -> tuple[dict[str, Any], str]:
        folded = {name.casefold(): name for name in names(kind)}
        name = folded.get(reference.casefold())
        if name is not None:
            path, entry = path_of(kind, name), f"{kind}/{name}"
        elif reference.endswith(".toml") or "/" in reference or _exists(reference):
            path, entry = pathlib.Path(reference), ""
        else:
            raise SpecError(
                where,
                f"must be one of the {kind} of the catalog or a TOML file",
                shown(reference),
                nearest(reference, names(kind)),
            )
        content = read_bytes(path)
        self.inputs[entry or str(reference)] = hashlib.sha256(content).hexdigest()
        return parse_toml(content, str(path)), entry

    def _calibrated(self, table: dict[str, Any], entry: str) -> dict[str, Any]:
        own, given = table.get("profile"), table.get("sources", {})
        overridden = self._override is not None and self._override.name == own
        profiles = [self._profile(own, entry)] if isinstance(own, str) and not overridden else []
        if self._override is not None:
            profiles.append(self._override)
        for profile in profiles:
            fields = profile.overlay(entry)
            for field, value in fields.items():
                table = merged(table, nested(field, value))
            if fields and isinstance(given, Mapping):
                sources = profile.sources_of(entry)
                table["sources"] = {**table["sources"], **sources} if "sources" in table else sources
        return table

    def _profile(self, name: str, entry: str) -> Profile:
        if name not in self.profiles:
            if name == THIS_MACHINE and name not in names("profiles"):
                rule = "needs this machine to be measured first"
                raise MissingCalibration(entry, rule, f"no profile {name} in {own_profiles()}", "perfmodel calibrate")
            table, _ = self._file("profiles", name, "profile")
            self.profiles[name] = build(Profile, table, name)
        return self.profiles[name]


def load(kind: str, reference: Reference) -> NamedSpec:
    """Load one entry by itself.

    Examples
    --------
    >>> load("devices", "bluefield-2").kind
    'smartnic'
    """
    where = kind if isinstance(reference, Mapping) else str(reference)
    table = Reader().table(kind, reference, where)
    return build(spec_of(kind, table, where), table, where)


def read_bytes(path: pathlib.Path, kind: str = "TOML") -> bytes:
    """Read a file of the user's whole, or say why not."""
    where = shown(str(path)).strip("'")
    if not _exists(path):
        parent = path.parent if _exists(path.parent) else pathlib.Path()
        candidates = [other.name for other in parent.glob("*.*") if other.suffix == path.suffix]
        close = nearest(path.name, candidates) if candidates else None
        raise SpecError(where, "must be a file that exists", "no such file", close)
    if path.is_dir():
        raise SpecError(where, "must be a file", "a directory")
    try:
        with path.open("rb") as file:  # not the size that the file system tells: a pipe has none, a device no end
            content = file.read(_LARGEST_SPEC + 1)
    except OSError as error:
        raise SpecError(where, "must be readable", error.strerror) from None
    if len(content) > _LARGEST_SPEC:
        raise SpecError(where, f"must be a {kind} file of at most 64 MiB", "a larger one")
    return content


def _exists(path: str | pathlib.Path) -> bool:
    """Return whether there is such a path; no where a path can't be called that."""
    try:
        return str(path) != "" and pathlib.Path(path).exists()
    except (OSError, ValueError):
        return False


def parse_toml(content: bytes, where: str) -> dict[str, Any]:
    """Parse TOML, or say where it breaks."""
    try:
        text = content.decode("utf-8")
        if "\0" in text:
            raise SpecError(where, "must be TOML text", "binary data")
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise SpecError(where, "must be TOML text", "binary data") from None
    except ValueError as error:  # TOMLDecodeError, or a whole number of thousands of digits
        raise SpecError(where, "must be valid TOML", str(error)) from None
    except RecursionError:
        raise SpecError(where, "must be valid TOML", "brackets nested too deeply") from None


def merged(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``table`` with ``changes`` laid over it, table by table."""
    result = dict(table)
    for key, value in changes.items():
        inner = result.get(key)
        result[key] = merged(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return result


def flattened(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested table by dotted keys.

    Examples
    --------
    >>> flattened({"transfer": {"window": 2}, "devices": 1}, "plan.")
    {'plan.transfer.window': 2, 'plan.devices': 1}
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= flattened(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return found


def nested(dotted: str, value: object) -> dict[str, Any]:
    """Return ``{"a": {"b": value}}`` for ``a.b``."""
    result: Any = value
    for part in reversed(dotted.split(".")):
        result = {part: result}
    return dict(result)


def kind_of(reference: str, kinds: tuple[str, ...], where: str) -> str:
    """Return which of several kinds a name or file belongs to.

    Examples
    --------
    >>> kind_of("lgnnic-local", ("plans", "systems"), "--against")
    'systems'
    """
    for kind in kinds:
        if reference.casefold() in (name.casefold() for name in names(kind)):
            return kind
    path = pathlib.Path(reference)
    if reference.endswith(".toml") or _exists(reference):
        table = parse_toml(read_bytes(path), reference)
        known = {kind: set().union(*(spec.model_fields for spec in specs_of(kind))) for kind in kinds}
        return max(kinds, key=lambda kind: len(table.keys() & known[kind]))
    choices = [name for kind in kinds for name in names(kind)]
    raise SpecError(
        where,
        f"must be one of the {' or '.join(kinds)} of the catalog or a TOML file",
        shown(reference),
        nearest(reference, choices),
    )
