"""What pydantic says of types, where it is installed; it is never required.

The fields of its models are read as those of other types are, and the model is made of them by its validators.
What has a form of its own, such as a model with a serializer, is read and written by pydantic, in its strict mode.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Collection, Iterable
from datetime import date, datetime
from typing import Annotated, Any, get_args, get_origin

from toolwire._codecs import ANY, CONVERTED, EXACT, Codec
from toolwire._forms import Schema
from toolwire._json import Misfit, Writer
from toolwire._log import log
from toolwire._records import Member, invalid

HOLDS_ITSELF = "holds itself: providers of models refuse such schemas. Take a list of items that name each other"
SERIALIZERS = {"PlainSerializer", "WrapSerializer"}
# Types of another name, of which it checks more.
ALSO: dict[str, type] = dict.fromkeys(["AwareDatetime", "PastDatetime", "FutureDatetime"], datetime)
ALSO |= dict.fromkeys(["PastDate", "FutureDate"], date)
# What does not change how a value is written.
CHECKS = {"AfterValidator", "BeforeValidator", "WrapValidator", "UuidVersion", "PathType", "Discriminator", "Tag"}


def is_model(kind: Any) -> bool:
    """Whether it has fields of pydantic: a BaseModel, or one of its dataclasses."""
    return isinstance(kind, type) and hasattr(kind, "__pydantic_decorators__") and not is_own(kind)


def is_own(kind: Any) -> bool:
    """Whether a type has a form that its fields do not say."""
    if not isinstance(kind, type):
        return False
    if not (decorators := getattr(kind, "__pydantic_decorators__", None)):
        return hasattr(kind, "__get_pydantic_core_schema__")
    base = next((it for it in kind.__mro__ if it.__name__ == "BaseModel"), None)
    is_changed = any(
        base and getattr(getattr(kind, name), "__func__", None) is not getattr(getattr(base, name), "__func__", None)
        for name in ("__get_pydantic_core_schema__", "__get_pydantic_json_schema__")
    )
    fields = fields_of(kind).values()
    return bool(
        is_changed or decorators.field_serializers or decorators.model_serializers
        or getattr(kind, "__pydantic_root_model__", False)
        or not all(isinstance(it.validation_alias or "", str) for it in fields)
        # What pydantic reads is read once.
        or any(has_own_form(_words_within(_annotated(it.annotation, it)), SERIALIZERS) for it in fields)
    )


def fields_of(kind: Any) -> dict[str, Any]:
    if hasattr(kind, "model_rebuild"):
        kind.model_rebuild(raise_errors=False)
    return dict(kind.model_fields if hasattr(kind, "model_fields") else kind.__pydantic_fields__)


def members(kind: Any, output: bool) -> dict[str, Member]:
    """Its fields by their names in JSON."""
    found = {}
    config = getattr(kind, "model_config", {})
    # What the model is made with is what it is read by.
    is_by_name = not output and config.get("validate_by_alias") is False
    for name, field in fields_of(kind).items():
        said = (field.serialization_alias if output else field.validation_alias) or field.alias
        alias = name if is_by_name else said or name
        if not (field.exclude if output else getattr(field, "init", None) is False):
            found[alias] = Member(name, _annotated(field.annotation, field), output or field.is_required())
    for name, field in getattr(kind, "model_computed_fields", {}).items() if output else ():
        found[field.alias or name] = Member(name, _annotated(field.return_type, field), True)
    return found


def _annotated(hint: Any, field: Any) -> Any:
    annotated: Any = Annotated
    return annotated[hint, field]


def takes_others(kind: Any) -> bool:
    """Whether values have members that no field is."""
    return bool(is_model(kind) and getattr(kind, "model_config", {}).get("extra") == "allow")


def is_field(word: Any) -> bool:
    """Whether it is a `Field`, or one of FastAPI's, such as `Query`."""
    return any(it.__name__.endswith("FieldInfo") and it.__module__ == "pydantic.fields" for it in type(word).__mro__)


def words(word: Any) -> Schema:
    """What a `Field` says to a reader."""
    said = {key: getattr(word, key, None) for key in ("title", "description", "examples")} if is_field(word) else {}
    return {key: it for key, it in said.items() if it}


def has_own_form(words: Iterable[Any], others: Collection[str] = ()) -> bool:
    """Whether what stands beside a type in `Annotated` changes how its values are written."""
    words = [part for word in words for part in (word, *(getattr(word, "metadata", ()) if is_field(word) else ()))]
    hooks = ("__get_pydantic_core_schema__", "__get_pydantic_json_schema__")
    names = {*CHECKS, *others}
    return any(type(it).__name__ not in names and any(hasattr(it, hook) for hook in hooks) for it in words)


def _words_within(hint: Any) -> list[Any]:
    own = [*hint.__metadata__] if get_origin(hint) is Annotated else []
    return own + [it for inner in get_args(hint) for it in _words_within(inner)]


def has_checks(words: Iterable[Any]) -> bool:
    """Whether it checks what no schema of ours says."""
    return any(
        type(word).__module__.startswith("pydantic") and not is_field(word)
        and not (hasattr(word, "__dict__") and word.__dict__.keys() <= {"pattern", "strict"})
        for word in words
    )


def checked(hint: Any, base: Codec) -> Codec:
    """What was read, as pydantic leaves it."""
    from pydantic import PydanticUserError, TypeAdapter, ValidationError

    try:
        adapter: Any = TypeAdapter(hint)
    except PydanticUserError as error:
        raise TypeError(f"pydantic cannot check it: {error}") from None

    def read(value: Any, how: int) -> Any:
        made = base.read(value, how)
        try:
            return adapter.validate_python(made, strict=True)
        except ValidationError as error:
            raise invalid("value of the type", error) from error
        except Exception as error:
            log.exception("a validator of %s failed", hint)
            raise Misfit("it is no value of the type") from error

    return dataclasses.replace(base, read=read)


def codec(hint: Any, output: bool) -> Codec | None:
    """Reads a hint as pydantic does. None: it cannot, or is not installed."""
    try:
        from pydantic import PydanticUserError, TypeAdapter, ValidationError
        from pydantic_core import PydanticSerializationError
    except ImportError:
        return None
    if getattr(hint, "__name__", "") == "NaiveDatetime":
        # It says a format that has a zone.
        return None
    try:
        adapter: Any = TypeAdapter(hint)
        document = adapter.json_schema(mode="serialization" if output else "validation")
    except (PydanticUserError, AttributeError, NameError):
        return None
    except ImportError as error:
        raise TypeError(str(error)) from None
    if not document.keys() - {"title", "description"}:
        return None
    name = getattr(hint, "__qualname__", str(hint))
    # What a caller gives has no computed fields.
    dump = functools.partial(adapter.dump_python, mode="json", by_alias=True, round_trip=not output)

    def read(value: Any, how: int) -> Any:
        try:
            made = adapter.validate_json(json.dumps(value), strict=True)
            if how < CONVERTED and not _is_kept(value, dump(made), how):
                raise Misfit(f"{name} would change it")
        except (ValidationError, PydanticSerializationError) as error:
            raise invalid(name, error) from error
        return made

    def write(value: Any, to: Writer, how: int) -> Any:
        try:
            if how < ANY:
                adapter.validate_python(value, strict=True)
            return to.plain(dump(value, warnings="error"))
        except (ValidationError, PydanticSerializationError) as error:
            if how < ANY:
                raise invalid(name, error) from error
            return to.plain(value)

    schema = _inline(document, document.get("$defs", {}), output, ())
    return Codec(schema, read, write)


def _is_kept(value: Any, written: Any, how: int) -> bool:
    """Whether what pydantic has read holds all of a value, and nothing beside it unless that is completed."""
    if how > EXACT and isinstance(value, dict) and isinstance(written, dict):
        written = {key: it for key, it in written.items() if key in value}
    return json.dumps(value, sort_keys=True) == json.dumps(written, sort_keys=True)


def _inline(schema: Any, definitions: Schema, output: bool, within: tuple[str, ...]) -> Any:
    """Without references, which only a whole document can have."""
    if isinstance(schema, list):
        return [_inline(it, definitions, output, within) for it in schema]
    if not isinstance(schema, dict):
        return schema
    beside = {key: it for key, it in schema.items() if key not in ("$ref", "$defs")}
    made = {key: _inline(it, definitions, output, within) for key, it in beside.items()}
    if "properties" in schema and not output:
        made.setdefault("additionalProperties", False)
    if name := str(schema.get("$ref", "")).rpartition("/")[2]:
        if name in within:
            raise TypeError(f"{name} {HOLDS_ITSELF}")
        made = {**_inline(definitions[name], definitions, output, (*within, name)), **made}
    return made
