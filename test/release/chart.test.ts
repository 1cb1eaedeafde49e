import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { VARIABLE_GROUPS, VARIABLES } from '../../src/platform/config/variables';
import { ALERTS, DASHBOARD_EXPRESSIONS } from '../architecture/alert-files';
import { PROJECT } from '../support/project';

/** What can be checked of the chart without helm, which the workflow `chart` runs. */

const text = (...path: readonly string[]) => readFileSync(join(PROJECT, ...path), 'utf8');
const chartFile = (...path: readonly string[]) => text('deploy', 'helm', 'towhook', ...path);

const names = z.array(z.string());
const valuesContract = z.looseObject({
  secrets: z.object({ existingSecret: z.string(), redis: names, webhooks: names, service: names, console: names }),
  environment: z.record(z.string(), z.string()),
  serviceEnvironment: z.record(z.string(), z.string()),
  consoleEnvironment: z.record(z.string(), z.string()),
});
const values = valuesContract.parse(parse(chartFile('values.yaml')));

interface Schema {
  readonly $ref?: string | undefined;
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
}
const schema: z.ZodType<Schema> = z.looseObject({
  $ref: z.string().optional(),
  additionalProperties: z.unknown().optional(),
  properties: z
    .record(
      z.string(),
      z.lazy(() => schema),
    )
    .optional(),
});
const schemaContract = z.intersection(schema, z.looseObject({ definitions: z.record(z.string(), schema) }));
const root = schemaContract.parse(JSON.parse(chartFile('values.schema.json')));

/** The names of all values that a schema has, such as `image.tag`; a schema that permits others has `image.*` as well. */
function namesIn({ $ref, properties, additionalProperties }: Schema, path: string): string[] {
  const target = $ref === undefined ? undefined : root.definitions[$ref.replace('#/definitions/', '')];
  if (target !== undefined) return namesIn(target, path);
  // An object without properties has keys that the user chooses.
  if (properties === undefined) return [];
  const own = Object.entries(properties).flatMap(([name, each]) => [path + name, ...namesIn(each, `${path}${name}.`)]);
  return additionalProperties === false ? own : [...own, `${path}*`];
}

/** The names of the values that have the parts which the schema names. */
function namesOf(part: unknown, path: string, known: readonly string[]): string[] {
  const isClosed = path === '' || known.some((name) => name.startsWith(path));
  if (!isClosed || typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, each]) => [path + name, ...namesOf(each, `${path}${name}.`, known)]);
}

test('no pod of the chart has variables of the Services beside it, which may have the names of ours', () => {
  for (const file of ['deployments.yaml', 'migration.yaml']) {
    expect(chartFile('templates', file)).toMatch(/\n {6}enableServiceLinks: false\n/);
  }
});

test('the chart starts the version of the package', () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(text('package.json')));
  expect(parse(chartFile('Chart.yaml'))).toMatchObject({ appVersion: version });
});

test('every variable and secret of the chart is one that towhook reads', () => {
  const known = new Set(Object.values(VARIABLE_GROUPS).flatMap((group) => Object.keys(group)));
  const { redis, webhooks, service, console } = values.secrets;
  const files = [...redis, ...webhooks, ...service, ...console].map((name) => `${name}_FILE`);
  const { environment, serviceEnvironment, consoleEnvironment } = values;
  const given = [...Object.keys({ ...environment, ...serviceEnvironment, ...consoleEnvironment }), ...files];
  expect(given.filter((name) => !known.has(name))).toEqual([]);
});

test('the schema of the chart knows exactly its values, at every depth, and refuses all others', () => {
  const known = namesIn(root, '').filter((name) => name !== 'global');
  expect(known).toEqual(expect.arrayContaining(['image.tag', 'receiver.ingress.host', 'worker.autoscaling.enabled']));
  expect(known.toSorted()).toEqual(namesOf(values, '', known).toSorted());
});

test('the ports and roles of the chart are those of the image', () => {
  const deployments = chartFile('templates', 'deployments.yaml');
  const ports = [...deployments.matchAll(/containerPort: (\d+)/g)].map(([, port]) => port);
  const [, exposed = ''] = /^EXPOSE (.*)$/m.exec(text('Dockerfile')) ?? [];
  expect(ports.filter((port) => !exposed.split(' ').includes(String(port)))).toEqual([]);
  expect(ports).toHaveLength(3);
});

test('a console stays in its Service while it lives, also without disk or Redis; a receiver without Redis leaves it', () => {
  const deployments = chartFile('templates', 'deployments.yaml');
  const [, path = ''] = /readinessProbe:\n +httpGet: { path: {{ (\S+) }}/.exec(deployments) ?? [];
  expect(path).toBe('$readinessPath');
  expect(deployments).toContain('$readinessPath := ternary "/healthz" "/readyz" (eq $role "console")');
});

test('the notes of the chart let the doctor in a console pod check the receiver by the name and port of its Service', () => {
  const notes = chartFile('templates', 'NOTES.txt');
  const [, address] = /towhook doctor .*--webhook-url (\S+ .*)$/m.exec(notes) ?? [];
  expect(address).toBe('http://{{ include "towhook.name" (dict "root" . "role" "receiver") }}');
  // Port 80 is left out of an http address.
  expect(chartFile('templates', 'services.yaml')).toContain('{ name: http, port: 80, targetPort: {{ $port }} }');
});

test('the network policy of the chart lets consoles call receivers, also when other sources are restricted', () => {
  const policy = chartFile('templates', 'network-policy.yaml');
  const [, allowed] =
    /with \$\.Values\.networkPolicy\.ingressFrom \}\}\n([^]*?)- if ne \$role "console"/.exec(policy) ?? [];
  expect(allowed).toContain('if eq $role "receiver"');
  expect(allowed).toContain('include "towhook.selector" (dict "root" $ "role" "console")');
});

test('the pod monitor of the chart gives its series a job that alerts and panels select', () => {
  const [, label = ''] = /^  jobLabel: (\S+)$/m.exec(chartFile('templates', 'monitor.yaml')) ?? [];
  // The pods have the labels of the chart.
  expect(chartFile('templates', 'deployments.yaml')).toMatch(/    metadata:\n      labels:\n.*"towhook\.labels"/);
  const labels =
    /define "towhook.labels" -}}\n([^]*?){{- end }}/.exec(chartFile('templates', '_helpers.tpl'))?.[1] ?? '';
  const job = labels.split('\n').find((line) => line.startsWith(`${label}: `));
  const expressions = [...ALERTS.map(({ expr }) => expr), ...DASHBOARD_EXPRESSIONS].join(' ');
  const jobs = [...expressions.matchAll(/job=~"([^"]*)"/g)].map(([, pattern = '']) => pattern);
  expect(jobs.length).toBeGreaterThan(3);
  expect(jobs.filter((pattern) => !new RegExp(`^${label}: (?:${pattern})$`).test(job ?? ''))).toEqual([]);
});

test('the example of values gives SERVICE_MODE to all roles, which need the same one', () => {
  const [, example = ''] = /## Values\n\n```yaml\n([^]*?)```/.exec(text('docs', 'operations', 'kubernetes.md')) ?? [];
  expect(parse(example)).toMatchObject({ environment: { SERVICE_MODE: 'shadow' } });
});

test('the example of an ingress for the console lets a form with images through', () => {
  const page = text('docs', 'operations', 'kubernetes.md');
  const [, megabytes] = /proxy-body-size: (\d+)m\b/.exec(page.slice(page.indexOf('\nconsole:'))) ?? [];
  expect(Number(megabytes) * 1024 * 1024).toBeGreaterThan(VARIABLES.parse({}).IMAGES_TOTAL_BYTES_MAX);
});

test('the chart mounts the claim for backups in consoles alone, at the folder of the image', () => {
  const deployments = chartFile('templates', 'deployments.yaml');
  expect(values).toMatchObject({ backup: { existingClaim: '' } });
  expect(deployments).toContain('$backupClaim := ternary $.Values.backup.existingClaim "" (eq $role "console")');
  expect(deployments).toContain('- { name: backups, mountPath: /backups }');
  expect(deployments).toMatch(
    /with \$backupClaim }}\n +- name: backups\n +persistentVolumeClaim: { claimName: {{ \. }} }/,
  );
  expect(text('Dockerfile')).toMatch(/^RUN mkdir .*\/backups/m);
});

test('the chart migrates the data before the new pods start, with what is there before an installation', () => {
  const job = chartFile('templates', 'migration.yaml');
  expect(values).toMatchObject({ migration: { enabled: true } });
  expect(job).toContain('{{- if .Values.migration.enabled }}');
  expect(job).toMatch(/^kind: Job$/m);
  expect(job).toContain('helm.sh/hook: pre-install,pre-upgrade\n');
  expect(job).toContain('command: [towhook, migrate]\n');
  // Resources of the chart are created after the hook, and pods that an affinity names start after it.
  expect(job).not.toMatch(/configMapRef|persistentVolumeClaim|\.Values\.affinity/);
  expect(job).toContain('range $key, $value := .Values.environment');
});

test('the migration of the chart gets the secrets of Redis and has no more rights than a role', () => {
  const job = chartFile('templates', 'migration.yaml');
  const deployments = chartFile('templates', 'deployments.yaml');
  expect(job).toContain('{{- range .Values.secrets.redis }}\n            - { name: {{ . }}_FILE, value: ');
  expect(job).toContain('{{- with .Values.secrets.redis }}\n        - name: secrets\n');
  const shared = ['podSecurity', 'containerSecurity', 'secretFiles'];
  for (const name of shared) {
    expect(job).toContain(`include "towhook.${name}"`);
    expect(deployments).toContain(`include "towhook.${name}"`);
  }
  for (const template of [job, deployments]) expect(template).toContain('automountServiceAccountToken: false');
  const helpers = chartFile('templates', '_helpers.tpl');
  expect(helpers).toMatch(/^runAsNonRoot: true$/m);
  expect(helpers).toMatch(/^readOnlyRootFilesystem: true$/m);
});

test('the command for the alerts on Kubernetes makes a PrometheusRule of all of them', () => {
  const page = text('docs', 'operations', 'kubernetes.md');
  const [, ...parts] = /```text\n(.*) \| kubectl apply --filename -\n([^]*?\nEND\n)```/.exec(page) ?? [];
  const printed = execFileSync('sh', ['-c', parts.join('\n')], { cwd: PROJECT, encoding: 'utf8' });
  expect(parse(printed)).toMatchObject({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'towhook' },
    spec: parse(text('deploy', 'prometheus', 'alerts.yml')) as unknown,
  });
});

test('the chart writes a number of a million and more with all its digits', () => {
  const templates = ['configmap', 'migration', 'availability', 'deployments'].map((name) =>
    chartFile('templates', `${name}.yaml`),
  );
  const all = templates.join('\n');
  expect(chartFile('templates', '_helpers.tpl')).toContain('{{ toJson . | quote }}');
  expect(all.match(/include "towhook\.text"/g)).toHaveLength(3);
  // A float of Go has an exponent where it is written as it is, or quoted.
  expect(
    all.match(/\{\{ (?:\$value|\S*(?:[rR]eplicas?|Percentage|Seconds|PerReplica))(?: \| quote)? \}\}/g),
  ).toBeNull();
});
