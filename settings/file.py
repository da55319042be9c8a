"""tidemark.toml, read and checked: every mistake is named with its key, an unknown key with the nearest known one."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from guarantees.promises import Guarantee
from settings.cluster import ClusterSettings
from settings.errors import SettingsError
from settings.tidemark import Settings, StoreSettings


def load_settings(path: Path) -> Settings:
    """Read and check a settings file. A relative data_dir and secret files are relative to the file."""
    try:
        given = tomllib.loads(path.read_text())
    except OSError as exc:
        raise SettingsError(f"{path} cannot be read: {exc.strerror}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SettingsError(f"{path} is not valid TOML: {exc}") from exc
    given.setdefault("store", {})["data_dir"] = str(path.parent / given.get("store", {}).get("data_dir", "data"))
    return parse_settings(given)


def bootstrap_settings(bootstrap_servers: str, data_dir: str = "data") -> Settings:
    """What runs with nothing but a bootstrap address: everything watched, pipelines only proposed."""
    cluster = ClusterSettings(name="default", bootstrap_servers=bootstrap_servers)
    return Settings(clusters=(cluster,), store=StoreSettings(data_dir=data_dir))


def parse_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of a parsed file; every mistake is named with its key."""
    settings: Settings = _build(Settings, given, "")
    return settings


def _build(kind: type, given: Any, where: str) -> Any:
    if not isinstance(given, Mapping):
        raise SettingsError(f"{where or 'the file'} must be a table")
    known = {f.name: f for f in fields(kind)}
    for key in given.keys() - known.keys():
        near = get_close_matches(key, known, n=1)
        raise SettingsError(f"unknown key {_join(where, key)}" + (f"; did you mean {near[0]}?" if near else ""))
    types = get_type_hints(kind)
    for name, f in known.items():
        if name not in given and f.default is MISSING and f.default_factory is MISSING:
            raise SettingsError(f"{_join(where, name)} is missing")
    return kind(**{key: _value(types[key], value, _join(where, key)) for key, value in given.items()})


def _value(kind: Any, value: Any, where: str) -> Any:
    if type(None) in get_args(kind):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind)[0], value, where)
    if get_origin(kind) is not None:  # Mapping[str, str]
        return {str(key): str(item) for key, item in value.items()}
    if hasattr(kind, "__dataclass_fields__"):
        return _build(kind, value, where)
    return _scalar(kind, value, where)


def _tuple(item: Any, value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise SettingsError(f"{where} must be a list")
    return tuple(_value(item, part, f"{where}[{number}]") for number, part in enumerate(value))


_SCALARS: Mapping[type, Callable[[Any], bool]] = {
    str: lambda value: isinstance(value, str),
    bool: lambda value: isinstance(value, bool),
    int: lambda value: isinstance(value, int) and not isinstance(value, bool),
    float: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if kind is Guarantee:
        if value not in set(Guarantee):
            raise SettingsError(f"{where} {value!r} is none of {', '.join(Guarantee)}")
        return Guarantee(value)
    if not _SCALARS[kind](value):
        raise SettingsError(f"{where} must be of type {kind.__name__}, not {value!r}")
    return kind(value)


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
