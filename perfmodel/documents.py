"""Results as JSON documents: read back, whichever version of the program wrote them.

A document says which ``schema`` it follows. What a schema names stays; later versions may add keys, which earlier ones leave
aside. A schema gets a new number where a key changes its meaning, and then what is older is still read.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from perfmodel.errors import SpecError, shown

Result = TypeVar("Result")
_LARGEST = 256 * 2**20


@functools.cache
def _adapter(kind: type[Any]) -> Any:
    import pydantic

    return pydantic.TypeAdapter(kind)


def read(kind: type[Result], document: object, newest: int, where: str) -> Result:
    """Return the result that a document holds.

    Parameters
    ----------
    kind : dataclass
        Whose fields are the document's keys; other keys are left aside.
    document : mapping
        As ``to_dict`` gives it, or JSON read back.
    newest : int
        The schema that this version writes.
    where : str
        Named in errors.

    Raises
    ------
    SpecError
        No document, one of a newer schema, keys that are missing or of another kind.
    """
    import pydantic

    checked(document, newest, where)
    fields: Any = kind
    try:
        found: Result = _adapter(fields).validate_python(document)
    except pydantic.ValidationError as error:
        problems = [problem for problem in error.errors() if not _is_unknown(problem)]
        if not problems:
            return read(kind, _with_unknowns(document, error.errors()), newest, where)
        problem = problems[0]
        place = ".".join(map(str, problem["loc"]))
        if problem["type"] in ("missing", "missing_argument"):
            raise SpecError(f"{where}: {place}", "must be given", "nothing") from None
        rule = problem["msg"].replace("Input should be", "must be")
        raise SpecError(f"{where}: {place}", rule, shown(problem["input"])) from None
    return found


def checked(document: object, newest: int, where: str) -> Mapping[str, Any]:
    """Return a document whose schema this version knows.

    Raises
    ------
    SpecError
    """
    if not isinstance(document, Mapping):
        raise SpecError(where, "must be the document of a result", shown(document))
    schema = document.get("schema")
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
        raise SpecError(f"{where}: schema", "must be a whole number from 1 on", shown(schema))
    if schema > newest:
        rule = f"must be at most {newest}, the newest that this version of perfmodel knows"
        raise SpecError(f"{where}: schema", rule, schema, "the version of perfmodel that wrote it, or a newer one")
    return document


def _is_unknown(problem: Any) -> bool:
    """Return whether a null stands in a number's place: JSON has no word for infinity or NaN."""
    return problem["type"] == "float_type" and problem["input"] is None


def _with_unknowns(document: Any, problems: Sequence[Any]) -> Any:
    """Return the document with NaN where these problems are."""
    filled = copy.deepcopy(document)
    for problem in problems:
        *path, last = problem["loc"]
        node = filled
        for part in path:
            node = node[part]
        node[last] = math.nan
    return filled


def schema_of(kind: Any, newest: int, title: str) -> dict[str, Any]:
    """Return the JSON Schema of a result's document; keys beside those that it names may be there."""
    found: dict[str, Any] = _adapter(kind).json_schema()
    number = {"type": "integer", "minimum": 1, "maximum": newest, "description": "Number of this schema."}
    found["properties"] = {"schema": number, **found["properties"]}
    found["required"] = ["schema", *found["required"]]
    return {**found, "title": title}


def load(path: str) -> dict[str, Any]:
    """Return the JSON document of a file.

    Raises
    ------
    SpecError
        No such file, no JSON, JSON that is no document.
    """
    try:
        with pathlib.Path(path).open("rb") as file:
            content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        raise SpecError(path, "must be a file that can be read", getattr(error, "strerror", None) or error) from None
    if len(content) > _LARGEST:
        raise SpecError(path, "must be a JSON file of at most 256 MiB", "a larger one")
    try:
        document = json.loads(content)
    except RecursionError:
        raise SpecError(path, "must be valid JSON", "brackets nested too deeply") from None
    except ValueError as error:  # JSONDecodeError, UnicodeDecodeError
        raise SpecError(path, "must be valid JSON, as --json writes it", str(error)) from None
    if not isinstance(document, dict):
        raise SpecError(path, "must be the document of a result, as --json writes it", shown(document))
    return document
