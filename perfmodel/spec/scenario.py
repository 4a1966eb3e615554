"""A scenario: one workload on one system under one plan, all numbers resolved and their origin known."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pydantic
from pydantic import BaseModel

from perfmodel.errors import SpecError, UnknownKey, nearest, shown
from perfmodel.spec._base import NamedSpec, Spec, build
from perfmodel.spec.catalog import REFERENCES, Reader, Reference, merged, names, nested, shipped_table
from perfmodel.spec.families import FamilySpecs, family_of
from perfmodel.spec.profile import Profile

_PARTS = {"workload": "workloads", "system": "systems", "plan": "plans"}


@functools.cache
def _body_of(family: FamilySpecs) -> type[BaseModel]:
    """Return the spec of a family's scenarios."""
    parts: dict[str, Any] = {part: (getattr(family, part), ...) for part in _PARTS}
    return pydantic.create_model("Scenario", __config__=Spec.model_config, **parts)


@dataclasses.dataclass(frozen=True)
class UncertainParameter:
    """A fitted constant of a profile, and the scenario's dotted keys that take their value from it."""

    profile: str
    index: int
    keys: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Scenario:
    """What is predicted.

    Attributes
    ----------
    workload, system, plan : specs
        Those of one family.
    inputs : mapping
        Every file that was read, with its sha256.
    profiles : mapping of name to Profile
        Whose constants are in use.
    uncertain : sequence of UncertainParameter
        Those constants, by the keys they set.
    changes : mapping
        What the user set, by dotted key.
    override : Profile, optional
        The profile that was asked for by name.
    """

    workload: Any
    system: Any
    plan: Any
    inputs: Mapping[str, str]
    profiles: Mapping[str, Profile]
    uncertain: Sequence[UncertainParameter]
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    override: Profile | None = None

    def replace(self, changes: Mapping[str, Any]) -> Scenario:
        """Return the scenario with other values, by dotted key; devices and links may be named.

        Raises
        ------
        SpecError
            Unknown keys, values outside their bounds.
        """
        reader = Reader(self.override)
        reader.inputs.update(self.inputs)
        reader.profiles.update(self.profiles)
        tables = {part: getattr(self, part).model_dump() for part in _PARTS}
        return _scenario(tables, reader, self.override, changes, self.changes)

    def source_of(self, key: str) -> str:
        """Return the source of a dotted key such as ``system.link.bandwidth``."""
        if key in self.changes:
            return "assumed: set by the user"
        node: Any = self
        found = "analytic: derived"
        parts = key.split(".")
        for depth, part in enumerate(parts):
            node = node[part] if isinstance(node, Mapping) else getattr(node, part, None)
            if node is None:
                break
            if isinstance(node, NamedSpec):
                found = node.source_of(".".join(parts[depth + 1 :]))
        return found


def load_scenario(
    workload: Reference,
    system: Reference,
    plan: Reference | None = None,
    profile: Reference | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Scenario:
    """Load a scenario from catalog names, TOML files or tables.

    Parameters
    ----------
    workload, system, plan : str, path or mapping
        Catalog name, path of a TOML file, or the table itself; the plan is the system's own, or else its family's
        default, where left out.
    profile : str, path or mapping, optional
        Profile laid over the catalog: name, file or table.
    changes : mapping of dotted key to value, optional
        As ``--set`` takes them: ``{"plan.transfer.chunk": "512 KiB"}``.

    Raises
    ------
    SpecError
        Unknown names or keys, values outside their bounds, missing or broken files.

    Examples
    --------
    >>> scenario = load_scenario("reddit", "lgnnic-sockets", changes={"plan.transfer.chunk": "512 KiB"})
    >>> scenario.plan.transfer.chunk
    524288.0
    """
    if changes is not None and not isinstance(changes, Mapping):
        raise SpecError("changes", "must be a mapping of dotted key to value", shown(changes))
    own = Reader()
    override = None if profile is None else build(Profile, own.table("profiles", profile, "profile"), "profile")
    reader = Reader(override)
    reader.inputs.update(own.inputs)
    tables = {
        "workload": reader.table("workloads", workload, "workload"),
        "system": reader.table("systems", system, "system"),
    }
    family = _common_family(tables)
    chosen = next(each for each in (plan, tables["system"].get("plan"), family.default_plan) if each is not None)
    tables["plan"] = reader.table("plans", chosen, "plan")
    _common_family(tables)
    return _scenario(tables, reader, override, dict(changes or {}), {})


def _common_family(tables: Mapping[str, Mapping[str, Any]]) -> FamilySpecs:
    """Return the family that all tables of a scenario belong to."""
    found = {part: family_of(table, part) for part, table in tables.items()}
    wanted = found["workload"]
    for part, family in found.items():
        if family is not wanted:
            choices = [
                name for name in names(_PARTS[part]) if family_of(shipped_table(_PARTS[part], name), name) is wanted
            ]
            name = tables[part].get("name", part)
            rule = f"must be a {part} of the workload's family, {wanted.name}"
            raise SpecError(part, rule, f"{shown(name)} of {family.name}", nearest(str(name), choices))
    return wanted


def _scenario(
    tables: dict[str, Any],
    reader: Reader,
    override: Profile | None,
    changes: Mapping[str, Any],
    earlier: Mapping[str, Any],
) -> Scenario:
    for key, value in changes.items():
        tables = _changed(tables, key, value, reader)
    where = "--set" if changes else "scenario"
    body: Any = build(_body_of(_common_family(tables)), tables, where)
    settled = {**earlier, **changes}
    uncertain = tuple(_uncertain(body, reader.profiles, settled))
    inputs = dict(sorted(reader.inputs.items()))
    return Scenario(body.workload, body.system, body.plan, inputs, dict(reader.profiles), uncertain, settled, override)


def _changed(tables: dict[str, Any], key: str, value: object, reader: Reader) -> dict[str, Any]:
    """Lay one dotted change over the tables; a device or link may be changed by name."""
    if not isinstance(key, str):
        raise SpecError("--set", "must have dotted keys such as plan.transfer.chunk", shown(key))
    parts = key.split(".")
    if parts[0] not in _PARTS or len(parts) < 2:
        raise UnknownKey(
            f"--set {key}", "must start with workload., system. or plan.", shown(key), nearest(parts[0], _PARTS)
        )
    target = REFERENCES.get(_PARTS[parts[0]], {}).get(parts[1])
    if target is not None and len(parts) == 2 and isinstance(value, str):
        value = reader.table(target, value, f"--set {key}")
        return {**tables, parts[0]: {**tables[parts[0]], parts[1]: value}}
    if target is not None and tables[parts[0]].get(parts[1]) is None:
        raise UnknownKey(f"--set {key}", f"needs a {parts[1]}", f"a {parts[0]} without one")
    return merged(tables, nested(key, value))


def _uncertain(body: Any, profiles: Mapping[str, Profile], changes: Mapping[str, Any]) -> Iterator[UncertainParameter]:
    """Find where each fitted constant went."""
    entries = list(_named_entries(body))
    for profile in profiles.values():
        for index, parameter in enumerate(profile.parameters):
            keys = tuple(
                f"{prefix}.{field}"
                for prefix, spec in entries
                for field in parameter.fields
                if spec.sources.get(field) == f"calibrated: profile {profile.name}"
                and parameter.entry.split("/", 1)[1] == spec.name
                and f"{prefix}.{field}" not in changes
            )
            if keys:
                yield UncertainParameter(profile.name, index, keys)


def _named_entries(body: Any) -> Iterator[tuple[str, NamedSpec]]:
    """Yield every spec of the scenario that has a name, with its dotted prefix."""
    stack: list[tuple[str, BaseModel]] = [(part, getattr(body, part)) for part in _PARTS]
    while stack:
        prefix, spec = stack.pop()
        if isinstance(spec, NamedSpec):
            yield prefix, spec
        for name in type(spec).model_fields:
            inner = getattr(spec, name)
            if isinstance(inner, BaseModel):
                stack.append((f"{prefix}.{name}", inner))
