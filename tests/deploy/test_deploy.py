"""The Helm chart and the examples of meshes and proxies: rendered, held to their schemas, and read by their programs.

Not here: what a cluster makes of them. Calls through Envoy are tests/clients/proxy.sh and tests/scale.
"""

import copy
import functools
import json
import re
import subprocess
import tomllib
import urllib.request
from pathlib import Path

import pytest
import yaml

from definitions import VERSIONS, objects

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "examples/deploy"
CHART = DEPLOY / "helm/toolwire"
VALUES = sorted((DEPLOY / "helm/values").glob("*.yaml"))
MESHES = sorted((DEPLOY / "meshes").glob("*.yaml"))
OF_OPERATOR = "monitoring.coreos.com/v1"
# For what the values take from Secrets.
SECRET = {
    "TOOLWIRE_STATE_URL": "postgres://toolwire@database.example/tools",
    "TOOLWIRE_HTTP_STATE_KEYS": "0123456789abcdef0123456789abcdef",
}
GOOD = {
    "image": {"repository": "registry.example/toolwire"},
    "replicas": 2,
    "postgres": {"existingSecret": "database"},
    "http": {"stateKeys": {"existingSecret": "keys"}},
    "config": '[[auth.users]]\nuser_id = "riley"\ntoken_env = "RILEY_TOKEN"\n',
}


def name(path):
    return path.stem


def run(*command, **more):
    return subprocess.run([str(it) for it in command], capture_output=True, text=True, timeout=60, **more)


def template(helm, values):
    return copy.deepcopy(template_once(helm, values))


@functools.cache
def template_once(helm, values):
    done = rendered(helm, values)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def rendered(helm, values, release="toolwire"):
    # Without a cluster, Helm as it is compiled here believes in one that is too old.
    options = ("--namespace", "tools", "--kube-version", f"{VERSIONS[-1]}.0")
    return run(helm, "template", release, CHART, *options, "--values", values)


def make_certificate(folder):
    """A private key, and a certificate of it."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    options = ("-newkey", "rsa:2048", "-nodes", "-subj", "/CN=tools.example", "-keyout", key, "-out", certificate)
    made = run("openssl", "req", "-x509", *options)
    assert made.returncode == 0, made.stderr
    return key, certificate


def of_kind(found, kind):
    return [it for it in found if it["kind"] == kind]


@pytest.mark.parametrize("values", VALUES, ids=name)
def test_the_chart_is_linted(helm, values):
    done = run(helm, "lint", "--strict", CHART, "--values", values)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("values", VALUES, ids=name)
def test_what_it_renders_keeps_to_the_schemas(helm, values, definitions):
    found = template(helm, values)
    assert of_kind(found, "Deployment") and of_kind(found, "Service")
    found = [it for it in found if it["apiVersion"] != OF_OPERATOR]
    assert [definitions.problems(it) for it in found] == [[] for _ in found]


def test_what_it_renders_for_the_prometheus_operator_is_read_by_its_types(helm, operator):
    found = [it for it in template(helm, DEPLOY / "helm/values/scaled.yaml") if it["apiVersion"] == OF_OPERATOR]
    assert sorted(it["kind"] for it in found) == ["PrometheusRule", "ServiceMonitor"]
    done = run(operator, input="".join(json.dumps(it) for it in found))
    assert done.returncode == 0, done.stderr
    [monitor] = of_kind(found, "ServiceMonitor")
    monitor["spec"]["endpoints"][0]["prot"] = "admin"
    done = run(operator, input=json.dumps(monitor))
    assert done.returncode == 1 and "prot" in done.stderr


@pytest.mark.parametrize("values", VALUES, ids=name)
def test_every_helm_renders_the_same(values, pytestconfig):
    one, *others = (template(helm, values) for helm in pytestconfig.getoption("--helm"))
    assert all(other == one for other in others)


class Pod:
    """The container of a rendered Deployment, as a process of this machine."""

    def __init__(self, binary, found, folder):
        text = "".join(it["data"]["toolwire.toml"] for it in of_kind(found, "ConfigMap"))
        config = folder / "toolwire.toml"
        config.write_text(text)
        [deployment] = of_kind(found, "Deployment")
        self.spec = deployment["spec"]["template"]["spec"]
        [self.container] = self.spec["containers"]
        variables = {it["name"]: it["value"] if "value" in it else SECRET[it["name"]] for it in self.container["env"]}
        assert len(variables) == len(self.container["env"])
        tokens = {user["token_env"]: "t" * 32 for user in tomllib.loads(text).get("auth", {}).get("users", [])}
        # There is no home.
        self.environment = {**variables, **tokens, "TOOLWIRE_CONFIG": config}
        self.command = [binary, *self.container["command"][1:]]
        self.folder = folder

    def start(self, **variables):
        """Serves on free ports, with its state in the folder; the address for operators, which is printed last."""
        self.environment |= variables | {"TOOLWIRE_STATE": self.folder / "state"}
        for variable in ("TOOLWIRE_LISTEN", "TOOLWIRE_HTTP", "TOOLWIRE_ADMIN"):
            self.environment[variable] = "127.0.0.1:0"
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(self.command, **streams, cwd=self.folder, env=self.environment)
        lines = iter(self.process.stdout.readline, "")
        return next(line.split()[-1] for line in lines if line.startswith("toolwire admin on "))


@pytest.mark.parametrize("values", VALUES, ids=name)
def test_the_program_reads_the_configuration(values, binary, pytestconfig, tmp_path):
    pod = Pod(binary, template(pytestconfig.getoption("--helm")[0], values), tmp_path)
    done = run(*pod.command, "--print-config", cwd=tmp_path, env=pod.environment)
    assert done.returncode == 0, done.stderr
    printed = tomllib.loads(done.stdout)
    ports = {it["name"]: f"0.0.0.0:{it['containerPort']}" for it in pod.container["ports"]}
    listening = {"grpc": printed["server"], "http": printed["http"], "admin": printed["admin"]}
    assert {name: it["listen"] for name, it in listening.items() if "listen" in it} == ports
    # Kubernetes kills what has not ended by then.
    drain = printed["server"]["drain"]
    pause = pod.container["lifecycle"]["preStop"]["sleep"]["seconds"]
    seconds = {"s": 1, "m": 60}
    end = int(drain["forced_end"][:-1]) * seconds[drain["forced_end"][-1]]
    assert pod.spec["terminationGracePeriodSeconds"] >= pause + end + 5


@pytest.mark.parametrize("tls", [False, True])
def test_its_probes_are_answered_without_a_home_and_beside_tls(tls, binary, pytestconfig, tmp_path):
    pod = Pod(binary, template(pytestconfig.getoption("--helm")[0], DEPLOY / "helm/values/single.yaml"), tmp_path)
    key, certificate = make_certificate(tmp_path)
    address = pod.start(**({"TOOLWIRE_TLS_CERT": certificate, "TOOLWIRE_TLS_KEY": key} if tls else {}))
    try:
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            probe = pod.container[kind]["httpGet"]
            assert probe["port"] == "admin"
            # As the kubelet asks, by the address of the pod.
            request = urllib.request.Request(f"http://{address}{probe['path']}", headers={"host": "10.42.0.7:9464"})
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert answer.status == 200
    finally:
        pod.process.terminate()
        pod.process.communicate(timeout=60)
    assert pod.process.returncode == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"postgres": {"existingSecret": ""}}, "postgres.existingSecret"),
        ({"http": {"stateKeys": {"existingSecret": ""}}}, "http.stateKeys.existingSecret"),
        ({"autoscaling": {"enabled": True}, "postgres": {"existingSecret": ""}, "replicas": 1}, "existingSecret"),
        ({"config": ""}, r"\[\[auth.users\]\]"),
        ({"config": "[server]\nsamples = false\n"}, r"\[\[auth.users\]\]"),
        ({"config": "[[auth.users]\n"}, "config is no TOML"),
        ({"configSecret": "other"}, "config and configSecret"),
        ({"state": {"existingClaim": "volume"}}, "a state is in PostgreSQL or in a directory"),
        ({"drain": {"lameDuckSeconds": 30}}, "drain.forcedEndSeconds"),
        ({"autoscaling": {"enabled": True, "minReplicas": 9}}, "autoscaling.maxReplicas"),
        ({"image": {"repository": ""}}, "repository"),
        ({"replica": 3}, "replica"),
        ({"replicas": 0}, "replicas"),
        ({"replicas": "3"}, "replicas"),
        ({"tls": {"existing_secret": "tls"}}, "existing_secret"),
        ({"secrets": ["Not A Name"]}, "secrets"),
        ({"env": {"lower": "x"}}, "lower"),
        ({"env": {"NUMBER": 1}}, "NUMBER"),
        ({"probes": {"readiness": {"path": "/"}}}, "path"),
        ({"topology": {"whenUnsatisfiable": "Never"}}, "whenUnsatisfiable"),
        ({"podLabels": {"a": 1}}, "podLabels"),
    ],
)
def test_values_that_could_not_work_are_refused(helm, change, why, tmp_path):
    values = tmp_path / "values.yaml"
    values.write_text(json.dumps({**GOOD, **change}))
    done = rendered(helm, values)
    assert done.returncode != 0 and re.search(why, done.stderr), done.stdout + done.stderr


def test_what_they_change_works_and_so_do_keys_in_the_configuration(helm, tmp_path):
    config = f'[http]\nstate_keys = ["{"k" * 32}"]\n\n{GOOD["config"]}'
    for number, good in enumerate((GOOD, {**GOOD, "config": config, "http": {}})):
        values = tmp_path / f"{number}.yaml"
        values.write_text(json.dumps(good))
        assert template(helm, values)


@pytest.mark.parametrize("release", ["r" * 53, f"{'r' * 44}-{'r' * 8}", "a", "my-toolwire"])
def test_names_are_short_enough_whatever_the_release_is_called(helm, release):
    done = rendered(helm, DEPLOY / "helm/values/scaled.yaml", release)
    assert done.returncode == 0, done.stderr
    found = objects(done.stdout)
    names = {it["metadata"]["name"] for it in found}
    assert all(re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", it) for it in names), names
    assert len({(it["kind"], it["metadata"]["name"]) for it in found}) == len(found)


@pytest.mark.parametrize("example", MESHES, ids=name)
def test_examples_of_meshes_keep_to_the_definitions(example, definitions):
    found = [(it["kind"], definitions.problems(it)) for it in objects(example.read_text())]
    unknown = {kind for kind, problems in found if problems is None}
    # Linkerd's own are in no registry.
    of_linkerd = {"AuthorizationPolicy", "MeshTLSAuthentication", "Server"}
    assert unknown == (of_linkerd if example.stem == "linkerd" else set())
    assert [problems for _, problems in found if problems] == []


def test_a_field_that_a_definition_lacks_is_seen(definitions):
    route = next(it for it in objects((DEPLOY / "meshes/istio.yaml").read_text()) if it["kind"] == "VirtualService")
    route["spec"]["http"][0]["retires"] = route["spec"]["http"][0].pop("retries")
    [problem] = definitions.problems(route)
    assert "retires" in problem


@pytest.mark.parametrize("example", MESHES, ids=name)
def test_examples_of_meshes_fit_the_chart(example, pytestconfig):
    own = DEPLOY / "helm/values" / example.name
    values = own if own.exists() else DEPLOY / "helm/values/replicas.yaml"
    found = template(pytestconfig.getoption("--helm")[0], values)
    services = of_kind(found, "Service")
    services = {it["metadata"]["name"]: {port["port"] for port in it["spec"]["ports"]} for it in services}
    [pod] = (it["spec"]["template"] for it in of_kind(found, "Deployment"))
    ports = {port["name"]: str(port["containerPort"]) for port in pod["spec"]["containers"][0]["ports"]}

    def look(value):
        if isinstance(value, list):
            for it in value:
                look(it)
        if not isinstance(value, dict):
            return
        if value.get("name") in services and isinstance(value.get("port"), int):
            assert value["port"] in services[value["name"]]
        if "host" in value:
            service, namespace = value["host"].split(".")[:2]
            assert namespace == "tools" and value.get("port", {"number": 50051})["number"] in services[service]
        if "matchLabels" in value:
            assert value["matchLabels"].items() <= pod["metadata"]["labels"].items()
        if isinstance(value.get("ports"), list):
            assert set(value["ports"]) <= set(ports.values())
        for it in value.values():
            look(it)

    policies = objects(example.read_text())
    look(policies)
    for server in of_kind(policies, "Server"):
        assert server["spec"]["port"] in ports


def test_services_that_a_policy_names_are_in_the_contract():
    contract = set()
    for file in (ROOT / "proto").rglob("*.proto"):
        text = file.read_text()
        [package] = re.findall(r"^package ([\w.]+);", text, re.MULTILINE)
        contract |= {f"{package}.{service}" for service in re.findall(r"^service (\w+)", text, re.MULTILINE)}
    named = set(re.findall(r"/([\w.]+Service)/\*", (DEPLOY / "meshes/istio.yaml").read_text()))
    assert named and named <= contract


@pytest.mark.parametrize("example", sorted(DEPLOY.glob("envoy*.yaml")), ids=name)
def test_envoy_takes_the_recipe(example, envoy, tmp_path):
    _, certificate = make_certificate(tmp_path)
    (tmp_path / "ca.pem").write_bytes(certificate.read_bytes())
    recipe = tmp_path / "envoy.yaml"
    recipe.write_text(example.read_text().replace("/etc/envoy/tls", str(tmp_path)))
    done = run(envoy, "--mode", "validate", "--config-path", recipe)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_chart_has_the_alerts(tmp_path, pytestconfig):
    found = template(pytestconfig.getoption("--helm")[0], DEPLOY / "helm/values/scaled.yaml")
    [rules] = of_kind(found, "PrometheusRule")
    assert rules["spec"] == yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())
