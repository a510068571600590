# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # Names of .ci/tools.sh, and of the scripts that source this.
# Servers that foreign clients talk to, and clients that .ci/run and .ci/long both have. Sourced by both, behind
# .ci/server.sh; $binary is the program.

token=0123456789abcdef0123456789abcdef

# The clients over HTTP talk to a server in which adding to the watch-list needs approval, and whose pages may come from
# another origin.
http_server_starts() {
  cp -r data "$work/data"
  sed -i 's/"requires_confirmation": false/"requires_confirmation": true/' "$work/data/tools/add_to_watchlist.json"
  origin=http://127.0.0.1:$(python tests/clients/port.py)
  printf '[http]\nallowed_origins = ["%s"]\n' "$origin" >"$work/http.toml"
  start_server "$binary" --diagnostics --http=127.0.0.1:0 --data "$work/data" --config "$work/http.toml"
  mkdir "$work/web"
  cp tests/clients/web/*.mjs "$work/web"
  ln -s "$web_env/node_modules" "$work/web/node_modules"
}
client_openapi() { PATH=$openapi_env/bin:$PATH bash tests/clients/openapi.sh "http://$http_address"; }
# The programs of examples/clients talk to a server that speaks TLS and wants a token.
tls_server_starts() {
  make_certificate "$work/tls"
  printf '[[auth.users]]\nuser_id = "demo"\ntoken = "%s"\n' "$token" >"$work/tls/toolwire.toml"
  start_server "$binary" --diagnostics --config "$work/tls/toolwire.toml" \
    --tls-cert "$work/tls/server.pem" --tls-key "$work/tls/server.key"
}
example() {
  TOOLWIRE_SERVER=https://$address TOOLWIRE_CA=$work/tls/ca.pem TOOLWIRE_TOKEN=$token \
    bash tests/clients/examples.sh run "$work/examples" "$1"
}
python_adapters() {
  PYTHONPATH=sdk/python TOOLWIRE_BINARY=$binary "$adapters_python/bin/python" -m pytest -p no:cacheprovider -q tests/clients/adapters
}
