#!/usr/bin/env bash
# Checks the Helm chart and the examples of meshes and proxies: `bash .ci/deploy.sh TOOLWIRE`, a program. It takes less than a
# minute, and some minutes more where Helm is not compiled yet.
set -euo pipefail
binary=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. .ci/tools.sh

install_deploy_tools
helms=("${HELM_VERSIONS[@]/#/--helm=$helm-}")
PYTHONDONTWRITEBYTECODE=1 "$deploy_python/bin/python" -m pytest -p no:cacheprovider -q tests/deploy "${helms[@]/%//helm}" \
  --definitions "$definitions" --operator "$operator/operator" --envoy "$envoy/envoy/_bin/envoy" --binary "$binary"
