import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { severityOf, type Alarm } from '../../src/workflow/ops/alarms';
import { ALARM_KINDS } from '../../src/domain/ops/notification-settings';
import { TASK_TYPES } from '../../src/domain/ops/tasks';
import { WEBHOOK_PATHS } from '../../src/domain/webhook/webhook-answers';
import { ALERTS, DASHBOARD_EXPRESSIONS } from './alert-files';
import { anchorsIn } from './documents';
import { PROCESS_SERIES, SERIES } from './metrics-page';
import { readSources } from './sources';
import { PROJECT } from '../support/project';

const textOf = (path: string) => readFileSync(join(PROJECT, path), 'utf8');
const alertNames = ALERTS.map(({ alert }) => alert);
const runbook = textOf('docs/operations/runbook.md');

/** The alert of each alarm of /ops. */
const ALERT_OF: Readonly<Record<Alarm['kind'], readonly string[]>> = {
  connection: ['TowhookConnectionLost'],
  outage: ['TowhookOutage'],
  shadow: ['TowhookShadowMode'],
  paused: ['TowhookOperationPaused'],
  throttled: ['TowhookBudgetClosed'],
  budgetBacklog: ['TowhookBudgetBacklog'],
  failing: ['TowhookCallsFailing'],
  attemptsFail: ['TowhookAttemptsFail'],
  lost: ['TowhookRecordsLost'],
  recordsMissing: ['TowhookSpoolRecordsMissing'],
  conservationCheckOld: ['TowhookConservationOld'],
  redisUnsafe: ['TowhookRedisUnsafe'],
  noProcess: ['TowhookNoWorker', 'TowhookNoReceiver', 'TowhookNoConsole'],
  silent: ['TowhookProcessSilent'],
  workerStalled: ['TowhookWorkerStalled'],
  unready: ['TowhookProcessNotReady', 'TowhookRedisUnavailable'],
  dataKeysMissing: ['TowhookDataKeysMissing'],
  servicesDiffer: ['TowhookServicesDiffer'],
  clockOff: ['TowhookClockOff'],
  queuePaused: ['TowhookQueuePaused'],
  backlogOld: ['TowhookBacklogOld'],
  failedJobs: ['TowhookFailedJobs'],
  tasksOpen: ['TowhookTasksWaiting'],
  reportOverdue: ['TowhookReportOverdue'],
  webhooksRefused: ['TowhookWebhooksRefused', 'TowhookOtherCallsRefused'],
  webhooksMostlyRefused: ['TowhookWebhooksMostlyRefused'],
  noWebhooks: ['TowhookNoWebhooks'],
  webhookSecrets: ['TowhookWebhookSecrets'],
  noticesFail: ['TowhookNoticesFail'],
  archive_failing: ['TowhookArchiveFailing'],
  delivery_failing: ['TowhookDeliveryFailing'],
};

/** The series that an expression of PromQL reads. */
function seriesIn(expression: string): string[] {
  return [...expression.matchAll(/\b(?:towhook|process|nodejs)_\w+/g)].map(([name]) => name);
}

/** The names under which Prometheus stores a series. */
const STORED = new Set([
  ...PROCESS_SERIES,
  ...SERIES.flatMap(({ name, type }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  ),
]);

const unknownIn = (expressions: readonly string[]) => expressions.flatMap(seriesIn).filter((name) => !STORED.has(name));

/** The labels that an expression selects or groups by, beside those that all series have or Prometheus adds. */
function unknownLabelsIn(expression: string): string[] {
  const selected = [...expression.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, name = '', selectors = '']) => {
    const series = SERIES.find((each) => name.replace(/_(bucket|count|sum)$/, '') === each.name || name === each.name);
    const labels = [...selectors.matchAll(/(\w+)\s*(?:=|!=|=~|!~)\s*"/g)].map(([, label = '']) => label);
    return labels
      .filter((label) => label !== 'installation' && series?.labels.includes(label) === false)
      .map((label) => `${name}{${label}}`);
  });
  const known = new Set([...SERIES.flatMap(({ labels }) => labels), 'installation', 'instance', 'le']);
  const grouped = [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
  return [...selected, ...grouped.filter((label) => label !== '' && !known.has(label))];
}

/** What is missing in the section of a heading: the section itself, or one of its parts. */
function missingIn(heading: string): string[] {
  const section = runbook.split(/^#{2,3} /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) return [`${heading}: no section`];
  const parts = ['Cause', 'Check', 'Action'].filter(
    (part) => !new RegExp(`^- \\*\\*${part}\\*\\*: \\S`, 'm').test(section),
  );
  return parts.map((part) => `${heading}: no ${part}`);
}

test('every series that an alert or the dashboard reads is in /metrics', () => {
  const rules = ALERTS.map(({ expr }) => expr);
  expect(DASHBOARD_EXPRESSIONS.length).toBeGreaterThan(20);
  expect(unknownIn(rules)).toEqual([]);
  expect(unknownIn(DASHBOARD_EXPRESSIONS)).toEqual([]);
  expect([...rules, ...DASHBOARD_EXPRESSIONS].flatMap(unknownLabelsIn)).toEqual([]);
});

test('a series and a label that do not exist are found in an expression', () => {
  expect(unknownIn(['max(towhook_gate_open) + towhook_due'])).toEqual(['towhook_gate_open']);
  expect(unknownLabelsIn('max by (plate) (towhook_due{circuit="x"})')).toEqual(['towhook_due{circuit}', 'plate']);
});

test('every alarm of /ops has an alert', () => {
  expect(
    Object.values(ALERT_OF)
      .flat()
      .filter((name) => !alertNames.includes(name)),
  ).toEqual([]);
});

test('every alert is critical exactly if its alarm of /ops is bad', () => {
  const isBad = (name: string) => ALERTS.find(({ alert }) => alert === name)?.labels.severity === 'critical';
  const rated = ALARM_KINDS.flatMap((kind) => {
    if (kind === 'unready') {
      return [
        { name: 'TowhookProcessNotReady', severity: severityOf({ kind, checks: 'spool, worker' }) },
        { name: 'TowhookRedisUnavailable', severity: severityOf({ kind, checks: 'spool, redis' }) },
      ];
    }
    if (kind !== 'webhooksRefused') return ALERT_OF[kind].map((name) => ({ name, severity: severityOf({ kind }) }));
    return WEBHOOK_PATHS.map((path) => ({
      name: path === 'other' ? 'TowhookOtherCallsRefused' : 'TowhookWebhooksRefused',
      severity: severityOf({ kind, path }),
    }));
  });
  expect(rated.length).toBeGreaterThan(25);
  expect(rated.filter(({ name, severity }) => isBad(name) !== (severity === 'bad'))).toEqual([]);
});

test('every alert has one name, a test, and a section in the runbook that its annotation names', () => {
  const tested = textOf('deploy/prometheus/alerts.test.yml');
  expect(new Set(alertNames).size).toBe(alertNames.length);
  expect(alertNames.filter((name) => !tested.includes(`"${name}"`))).toEqual([]);
  expect(alertNames.flatMap(missingIn)).toEqual([]);
  const anchors = anchorsIn(runbook).map((anchor) => `docs/operations/runbook.md#${anchor}`);
  for (const { alert, annotations } of ALERTS) {
    expect(annotations.runbook).toBe(`docs/operations/runbook.md#${alert.toLowerCase()}`);
    expect(anchors).toContain(annotations.runbook);
  }
});

test('every type of task has a section in the runbook, or is named there with the section of its alert', () => {
  const withAlert = (type: string) => new RegExp(`\`${type}\`: \\[Towhook\\w+\\]\\(#towhook\\w+\\)`).test(runbook);
  expect(TASK_TYPES.filter((type) => !withAlert(type)).flatMap(missingIn)).toEqual([]);
});

test('every command and every log line that the runbook names exists', () => {
  const commands = [...runbook.matchAll(/`towhook ([a-z-]+(?: [a-z][a-z-]*)?)/g)].map(([, command = '']) => command);
  const page = textOf('docs/cli.md');
  expect(commands.length).toBeGreaterThan(30);
  expect(commands.filter((name) => !page.includes(`- \`towhook ${name}`) && !page.includes(`\n## ${name}\n`))).toEqual(
    [],
  );

  const events = [...runbook.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, event = '']) => event);
  const code = readSources(['src', 'jobs'], ['.ts']).map(({ text }) => text);
  const isLogged = (event: string) =>
    code.some((text) => text.includes(`'${event}'`) || text.includes(`name: '${event.replace(/\.failed$/, '')}'`));
  expect(events.length).toBeGreaterThan(5);
  expect(events.filter((event) => event !== 'alerts.yml' && !isLogged(event))).toEqual([]);
});

test('the runbook has no section about an alert or a type of task that does not exist', () => {
  const headings = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, heading = '']) => heading);
  expect(headings.length).toBeGreaterThan(60);
  const known = new Set<string>([...alertNames, ...TASK_TYPES]);
  expect(headings.filter((heading) => !known.has(heading))).toEqual([]);
});
