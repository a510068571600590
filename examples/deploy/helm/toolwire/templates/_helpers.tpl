{{/* With room for -replicas. */}}
{{- define "toolwire.name" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name }}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end }}
{{- trunc 54 $name | trimSuffix "-" }}
{{- end }}

{{- define "toolwire.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "toolwire.labels" -}}
{{ include "toolwire.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "toolwire.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "toolwire.name" .) }}
{{- end }}

{{- define "toolwire.protocol" -}}
{{- if .Values.tls.existingSecret }}https{{ else }}{{ .plain }}{{ end }}
{{- end }}

{{/* What would fail, or lose something, only once it runs. */}}
{{- define "toolwire.check" -}}
{{- $values := .Values }}
{{- $most := $values.replicas | int }}
{{- if $values.autoscaling.enabled }}{{ $most = $values.autoscaling.maxReplicas | int }}{{ end }}
{{- $config := dict }}
{{- if $values.configSecret }}
{{- if $values.config }}{{ fail "config and configSecret are both set; remove one" }}{{ end }}
{{- else }}
{{- $config = fromToml $values.config }}
{{- with $config.Error }}{{ fail (printf "config is no TOML: %s" .) }}{{ end }}
{{- $auth := $config.auth | default dict }}
{{- if not (or $auth.users $auth.issuers $auth.trust_domains $auth.spiffe) }}
{{- fail "config has neither [[auth.users]] nor [[auth.issuers]] nor [[auth.trust_domains]] nor [[auth.spiffe]]: without credentials a server is reached from its own machine alone" }}
{{- end }}
{{- end }}
{{- if gt $most 1 }}
{{- if not $values.postgres.existingSecret }}
{{- fail "more than one replica need a common state: set postgres.existingSecret" }}
{{- end }}
{{- if and $values.http.enabled (not $values.http.stateKeys.existingSecret) (not (dig "http" "state_keys" "" $config)) (not $values.configSecret) }}
{{- fail "more than one replica need common keys for calls over MCP: set http.stateKeys.existingSecret" }}
{{- end }}
{{- end }}
{{- if and $values.postgres.existingSecret $values.state.existingClaim }}
{{- fail "postgres.existingSecret and state.existingClaim are both set: a state is in PostgreSQL or in a directory; remove one" }}
{{- end }}
{{- if and $values.autoscaling.enabled (lt $most ($values.autoscaling.minReplicas | int)) }}
{{- fail "autoscaling.maxReplicas is less than autoscaling.minReplicas" }}
{{- end }}
{{- if lt ($values.drain.forcedEndSeconds | int) ($values.drain.lameDuckSeconds | int) }}
{{- fail "drain.forcedEndSeconds is shorter than drain.lameDuckSeconds" }}
{{- end }}
{{- end }}
