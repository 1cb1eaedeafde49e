import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { jsonObject } from '../../src/contracts/common';
import { task } from '../../src/contracts/outbox/records';
import type { OutboxRecord, StoredTow, StoredViolation } from '../../src/domain/outbox/outbox-record';
import type { JsonObject } from '../../src/domain/vocabulary';
import { runsOf } from '../workflow/run-world';
import { createAuditStore } from '../../src/store/ops/audit';
import { budgetKey, KEYS } from '../../src/store/keys';
import { verifyAudit } from '../../src/workflow/ops/verify-audit';
import { walk } from '../support/conservation';
import type { TestBed } from './test-bed';
import type { Stage } from './scenario';
import { entriesWithLostAttempts, leftovers, readRecords } from './stored';

/** The result of a run without ids, times and numbers of attempts, which differ from run to run. */
export interface SweepOutcome {
  /** One line per tow and violation, in no special order: all that is kept of it but attempts. */
  readonly records: readonly string[];
  readonly reports: readonly string[];
  readonly violations: readonly string[];
  readonly deliveries: readonly string[];
  readonly runs: readonly string[];
  readonly tasks: readonly string[];
  /** What people did, in order, by the audit. */
  readonly audit: readonly string[];
  readonly conservation: string;
  /** The calls in the order of their arrival at the service; consecutive repeats count once. */
  readonly order: readonly string[];
  /** Calls that the service received, per operation. */
  readonly counts: Readonly<Record<string, number>>;
  /** Creates that had an effect, per operation. */
  readonly created: Readonly<Record<string, number>>;
  /** The entries of which an attempt was lost with its worker. */
  readonly lost: readonly string[];
  /** What must never be: rights and schedules that are left, a broken audit, lost records. */
  readonly faults: readonly string[];
}

/** What happened in the field or came from the service; the other events follow from attempts. */
const FIELD_EVENTS: ReadonlySet<unknown> = new Set([
  'tow.requested',
  'request.rival_kept',
  'invoice.attached',
  'fact.recorded',
]);
const BUDGETS = ['tow', 'violations'] as const;
const TIMESTAMP = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const REFERENCE = /\bV-\d{8}-\w+/g;
/** Questions to the service, which may be asked at any time. */
const ASIDE: ReadonlySet<string> = new Set(['token', 'ticket', 'capacity']);

export async function outcomeOf(stage: Stage): Promise<SweepOutcome> {
  const { testBed } = stage;
  const { redis } = testBed.stores;
  const records = await readRecords(redis);
  const { calls, webhooks } = await testBed.seen();
  const names = [
    ...new Set([...records.map(acceptedViolationIn), ...webhooks.map(({ towing_reference_id: ref }) => ref)]),
  ];
  const tows = records.filter((record) => record.kind === 'tow');
  const violations = records.filter((record) => record.kind === 'violation');
  const { items } = await testBed.stores.deliveries.list({ cursor: null, limit: 100 });
  const operations = calls.map(({ operation }) => operation).filter((operation) => !ASIDE.has(operation));
  const effects = calls.filter(({ effect }) => effect).map(({ operation }) => operation);
  const found = await walk(redis);
  const { extent: _extent, broken } = await verifyAudit({
    archived: nothing(),
    kept: await createAuditStore(redis).lines(),
    noted: null,
  });
  return {
    records: [...tows.map(contentOfTow), ...violations.map(contentOfViolation)]
      .map((content) => plain(content, stage, names))
      .toSorted(),
    reports: tows.flatMap(({ entries }) => entries.map(({ kind, state }) => `${kind} ${state}`)),
    violations: await Promise.all(violations.map((record) => violationLine(testBed, record))),
    deliveries: items.map(({ kind, state, verdict }) => `${kind} ${state} ${String(verdict)}`).toSorted(),
    runs: await runLines(testBed),
    tasks: (await redis.hvals(KEYS.tasks)).map(taskLine).toSorted(),
    audit: (await auditOf(testBed)).toReversed(),
    conservation: JSON.stringify([found.deliveries, found.reports, found.violations]),
    order: operations.filter((operation, index) => operation !== operations[index - 1]),
    counts: countsOf(operations),
    created: countsOf(effects.filter((operation) => operation === 'invoice' || operation.startsWith('violation'))),
    lost: entriesWithLostAttempts(records),
    faults: [
      ...(await leftovers(redis)),
      ...(await unusedPermits(redis, operations)),
      ...found.lostNames.map((name) => `${name} is lost`),
      ...(broken ? [`the audit is broken at ${broken.seq}: ${broken.problem}`] : []),
    ],
  };
}

export const UNUSED_PERMITS = 'unused permits of the budget';

/** A worker that is lost may have taken one permit for a call that it did not make; it counts until its window is over. */
async function unusedPermits(redis: Redis, operations: readonly string[]): Promise<string[]> {
  const ofViolations = operations.filter((operation) => operation.startsWith('violation')).length;
  const calls = { violations: ofViolations, tow: operations.length - ofViolations };
  const taken = { violations: await redis.llen(budgetKey('violations')), tow: await redis.llen(budgetKey('tow')) };
  return BUDGETS.filter((name) => taken[name] > calls[name] + 1).map((name) => `${UNUSED_PERMITS} ${name}`);
}

function contentOfTow({ tow, entries, events, parked }: StoredTow): JsonObject {
  return jsonOf({
    state: tow?.state,
    facts: tow?.facts.map(({ event }) => event),
    payments: tow?.payments.map(({ paymentStatus }) => paymentStatus),
    rivals: tow?.rivalRequests.map(({ metadata }) => metadata),
    invoices: tow?.invoiceWebhooks.map(({ towingInvoice }) => towingInvoice['total_amount'] ?? null),
    plate: tow?.plateNumber,
    violation: tow?.violationId,
    reports: entries.map(({ kind, state, body, revision }) => ({ kind, state, body, revision })),
    events: events.map(({ entry }) => entry['type']).filter((type) => FIELD_EVENTS.has(type)),
    parked: parked.length,
  });
}

function contentOfViolation({ violation, reference, tows, ticket, entries }: StoredViolation): JsonObject {
  const [entry] = entries;
  return jsonOf({
    form: violation.form,
    state: entry?.state,
    tows: tows.length,
    hasReference: reference !== null,
    hasActiveTicket: ticket?.has_active_ticket,
  });
}

function jsonOf(value: unknown): JsonObject {
  return jsonObject.parse(JSON.parse(JSON.stringify(value)));
}

function acceptedViolationIn(record: OutboxRecord): string {
  return record.kind === 'tow' ? record.ref : record.id;
}

/** Without what differs from run to run. */
function plain(value: JsonObject, { violation }: Stage, refs: readonly string[]): string {
  const text = refs.reduce((rest, ref) => rest.replaceAll(ref, 'TW'), JSON.stringify(value));
  return text.replaceAll(violation, 'V').replaceAll(REFERENCE, 'V').replaceAll(TIMESTAMP, 'then');
}

async function violationLine(testBed: TestBed, { id, entries, tows }: StoredViolation): Promise<string> {
  const images = await readdir(join(testBed.dataDir, 'spool', 'violations', id)).catch(() => []);
  const joined = `${tows.length} ${tows.length === 1 ? 'tow' : 'tows'} joined`;
  return `violation ${entries[0]?.state}, image ${images.length > 0 ? 'kept' : 'deleted'}, ${joined}`;
}

async function runLines({ foundation }: TestBed): Promise<string[]> {
  const runs = runsOf(foundation);
  const all = await Promise.all((await runs.recent()).map(({ id }) => runs.read(id)));
  return all.map((run) => `run ${run?.state}: ${(run?.items ?? []).map(({ outcome }) => outcome).join(', ')}`);
}

function taskLine(json: string): string {
  const { type, actions } = task.partial({ id: true }).parse(JSON.parse(json));
  return `${type}: ${actions.join(', ')}`;
}

async function auditOf(testBed: TestBed): Promise<string[]> {
  const { items } = await createAuditStore(testBed.stores.redis).list({
    cursor: null,
    limit: 100,
    towingReferenceId: null,
  });
  return items.map(({ action }) => action);
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

async function* nothing() {}
