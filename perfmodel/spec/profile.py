"""Profiles: fitted constants laid over the catalog, with their joint uncertainty.

A profile names, for entries of the catalog such as ``devices/bluefield-2``, the fields it has a better value for. Loading
that entry takes the profile's values in place of its own; results know them as calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from perfmodel.spec._base import NamedSpec, Spec, pydantic_error


class FittedParameter(Spec):
    """One fitted constant.

    Attributes
    ----------
    entry : str
        Catalog entry, such as ``devices/bluefield-2``.
    fields : tuple of str
        Dotted fields within it that take the value.
    value : float
        In the field's unit.
    unit : str
        The field's unit.
    interval : tuple of float
        90 % interval from the fit.
    bounds : tuple of float
        What the fit was allowed.
    meaning : str
        The physical meaning.
    fitted : bool
        False for a value that was not fitted: one that follows from another by a published ratio, or a size read off the
        machine.
    source : str
        ``"kind: where from"`` where that is not the fit.
    """

    entry: str
    fields: tuple[str, ...]
    value: float
    unit: str
    interval: tuple[float, float]
    bounds: tuple[float, float]
    meaning: str
    fitted: bool = True
    source: str | None = None


class Profile(NamedSpec):
    """A set of fitted constants.

    Attributes
    ----------
    parameters : tuple of FittedParameter
    covariance : matrix
        Of the logs of the parameters, in their order.
    residual : mapping of str to float
        Standard deviation of the log of measured over predicted, by step; ``transfer`` also stands for all steps of the
        transfer, and ``rest`` for all others, that are not named.
    made_by, data : mappings
        Command, versions, machine, and hashes of the data that the fit used.
    """

    parameters: tuple[FittedParameter, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()
    residual: Mapping[str, Annotated[float, Field(ge=0, le=5)]] = {}
    made_by: Mapping[str, Any] = {}
    data: Mapping[str, str] = {}

    @model_validator(mode="after")
    def _square(self) -> Profile:
        size = len(self.parameters)
        if [len(row) for row in self.covariance] != [size] * size:
            raise pydantic_error(
                "covariance must have a row and a column for each parameter", f"{len(self.covariance)} rows", str(size)
            )
        return self

    def sources_of(self, entry: str) -> dict[str, str]:
        """Return the source of each field that this profile sets in a catalog entry."""
        return {
            field: parameter.source or f"calibrated: profile {self.name}"
            for parameter in self.parameters
            if parameter.entry == entry
            for field in parameter.fields
        }

    def overlay(self, entry: str) -> dict[str, float]:
        """Return the fields that this profile sets in a catalog entry."""
        return {
            field: parameter.value
            for parameter in self.parameters
            if parameter.entry == entry
            for field in parameter.fields
        }
