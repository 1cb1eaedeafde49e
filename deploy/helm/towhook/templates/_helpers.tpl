{{- define "towhook.labels" -}}
app.kubernetes.io/name: towhook
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The pods of a role: a dict with `root` and `role`. */}}
{{- define "towhook.selector" -}}
app.kubernetes.io/name: towhook
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "towhook.name" -}}
{{- printf "%s-%s" (trunc 50 .root.Release.Name) .role }}
{{- end }}

{{- define "towhook.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{/* The names of the secrets that a role gets. */}}
{{- define "towhook.secretNames" -}}
{{- $secrets := .root.Values.secrets -}}
{{- $names := $secrets.redis -}}
{{- if ne .role "worker" }}{{ $names = concat $names $secrets.webhooks }}{{ end -}}
{{- if ne .role "receiver" }}{{ $names = concat $names $secrets.service }}{{ end -}}
{{- if eq .role "console" }}{{ $names = concat $names $secrets.console }}{{ end -}}
{{- join "," $names }}
{{- end }}

{{- define "towhook.claim" -}}
{{- default (printf "%s-data" (trunc 50 .Release.Name)) .Values.data.existingClaim }}
{{- end }}

{{- define "towhook.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "towhook.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* A value as quoted text. Helm reads numbers as floats, and would write 20000000 as 2e+07. */}}
{{- define "towhook.text" -}}
{{- if kindIs "string" . }}{{ . | quote }}{{ else }}{{ toJson . | quote }}{{ end }}
{{- end }}

{{/* The volume of secrets: a dict with `root` and `names`. */}}
{{- define "towhook.secretFiles" -}}
secretName: {{ .root.Values.secrets.existingSecret }}
# 0440: readable for the group of the program.
defaultMode: 288
items:
  {{- range .names }}
  - { key: {{ . }}, path: {{ . }} }
  {{- end }}
{{- end }}
