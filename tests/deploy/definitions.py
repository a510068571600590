"""Kubernetes objects held to the schemas of their kinds: of Kubernetes itself, and of custom resources.

As the server of a cluster does with strict validation, a field that a definition does not know is refused. Rules in CEL
are not evaluated.
"""

import copy

import jsonschema
import kubernetes_validate
import yaml

# What the chart says that it needs, and the newest there is.
VERSIONS = ("1.30", "1.37")


class Definitions:
    """The schemas of custom resources, by the version of their group and their kind."""

    def __init__(self, schemas):
        self.schemas = schemas

    @classmethod
    def read(cls, paths):
        files = (file for path in paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [path]))
        schemas = {}
        for file in files:
            for definition in objects(file.read_text()):
                if definition["kind"] != "CustomResourceDefinition":
                    continue
                spec = definition["spec"]
                for version in spec["versions"]:
                    schema = strict(version["schema"]["openAPIV3Schema"], is_root=True)
                    schemas[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = schema
        return cls(schemas)

    def problems(self, found):
        """What is wrong with an object; None if its kind has no schema here."""
        api, kind = found["apiVersion"], found["kind"]
        if schema := self.schemas.get((api, kind)):
            errors = jsonschema.Draft202012Validator(schema).iter_errors(found)
            return [f"{kind} {error.json_path}: {error.message[:300]}" for error in errors]
        if "." in api.split("/")[0] and not api.split("/")[0].endswith("k8s.io"):
            return None
        problems = []
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(found, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                problems.append(f"{kind}, {version}: {error.message[:300]}")
        return problems


def objects(text):
    return [found for found in yaml.safe_load_all(text) if found]


def strict(schema, is_root=False):
    """The schema, closed to fields that it does not name."""
    schema = copy.copy(schema)
    if is_root:
        # The server knows these by itself.
        schema["properties"] = {**schema["properties"], "apiVersion": {}, "kind": {}, "metadata": {"type": "object"}}
    if schema.pop("x-kubernetes-int-or-string", False):
        schema.pop("type", None)
    if schema.pop("nullable", False) and "type" in schema:
        schema["type"] = [schema["type"], "null"]
    if "properties" in schema:
        schema["properties"] = {name: strict(it) for name, it in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            schema.setdefault("additionalProperties", False)
    if isinstance(schema.get("additionalProperties"), dict):
        schema["additionalProperties"] = strict(schema["additionalProperties"])
    if "items" in schema:
        schema["items"] = strict(schema["items"])
    return schema
