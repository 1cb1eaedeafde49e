import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { processDeliveries } from '../../jobs/process-delivery';
import type { JsonObject, ReportKind } from '../../src/domain/vocabulary';
import type { NewTask } from '../../src/domain/ops/tasks';
import type { Exchange, Verdict } from '../../src/domain/service/policy';
import type { Foundation } from '../../src/main/foundation';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { ACCEPTING, refusedWith, STOPPED } from '../support/exchanges';
import { reportIn, type ClaimedReport, NO_LIMITS } from '../support/outboxes';
import { createIntake } from '../../src/store/webhook/deliveries';
import { deliveryTools, oddAnswer, result } from '../support/stores';
import { api, towIn, towPath } from './client';
import type { ViolationInput } from '../../src/contracts/violation/violation-input';
import { recordsOf } from '../../src/store/outbox/records';
import { violationView, type ViolationView } from '../../src/contracts/violation/violations';
import type { App } from '../support/app';
import { report } from '../support/violations';

/**
 * Plays the service and the workers on the records of a tow, through the project's own stores. No worker runs, so only
 * the test changes a tow.
 */

type RunningConsole = Pick<App, 'consoleUrl' | 'apiKey' | 'foundation'>;

let count = 0;

/** Numbers of equal length that sort in the order they were made, also within one millisecond. */
function nextNumber(): string {
  count += 1;
  return String(count).padStart(6, '0');
}

/** The plate and the place of a vehicle: the required fields of the fact `started`. */
export const WHEREABOUTS = {
  plate_number: 'ABJ 1234',
  towed_location: 'King Fahd Road, Riyadh',
  latitude: 24.7136,
  longitude: 46.6753,
};

/** Accepts a webhook call as the receiver does and processes it as a worker does. Returns its id and verdict. */
export async function deliver(
  app: Pick<App, 'foundation'>,
  kind: 'tow_request' | 'tow_invoice',
  body: JsonObject & { towing_reference_id: string },
) {
  const { redis } = app.foundation;
  const id = await acceptOnly(app, kind, body);
  const { what } = await processDeliveries({ delivery_ids: [id] }, deliveryTools(redis));
  return { id, verdict: what };
}

/** Accepts a webhook call as the receiver does, without processing it. */
export async function acceptOnly(
  { foundation }: Pick<App, 'foundation'>,
  kind: 'tow_request' | 'tow_invoice',
  body: JsonObject & { towing_reference_id: string },
): Promise<string> {
  const id = `dlv_${nextNumber()}`;
  const delivery = { id, kind, rawBody: JSON.stringify(body), verified: true, signatureId: null, signedAtMs: null };
  await createIntake(foundation.redis, foundation.clock).accept({
    ...delivery,
    towingReferenceId: body.towing_reference_id,
  });
  return id;
}

/** Makes a tow that the service has just requested. Returns its reference. */
export async function newTow(app: Pick<App, 'foundation'>, changes: JsonObject = {}): Promise<string> {
  const suffix = nextNumber();
  const body = {
    violation_reference_id: `V-20261120-${suffix}`,
    towing_reference_id: `TW-20261120-${suffix}`,
    metadata: { id: `patrol-${suffix}` },
    ...changes,
  };
  await deliver(app, 'tow_request', body);
  return body.towing_reference_id;
}

/** Records facts in order, each with the smallest body that its contract allows. */
export async function record(
  app: RunningConsole,
  ref: string,
  ...events: readonly (keyof typeof SMALLEST_BODIES)[]
): Promise<void> {
  for (const event of events)
    towIn(
      await api(app)
        .post(towPath(ref, `/${event}`))
        .send(SMALLEST_BODIES[event]),
    );
}

const SMALLEST_BODIES = {
  started: WHEREABOUTS,
  detained: {},
  released: {},
  canceled: { cancellation_reason: 'gone on arrival' },
  invoice: { vehicle_type: 'HEAVY' },
  payment: {},
} as const;

/** Makes a tow and records these facts on it. Returns its reference. */
export async function towAfter(
  app: RunningConsole,
  ...events: readonly (keyof typeof SMALLEST_BODIES)[]
): Promise<string> {
  const ref = await newTow(app);
  await record(app, ref, ...events);
  return ref;
}

export function outboxOf({ redis, clock }: Foundation) {
  return createTowOutbox(redis, clock, { leaseMs: 20_000, graceMs: 15_000, ...NO_LIMITS });
}

/** Claims the head of a tow's outbox, as a worker does before it sends it. */
export async function claimHead({ foundation }: Pick<App, 'foundation'>, ref: string): Promise<ClaimedReport> {
  const claim = await outboxOf(foundation).claim(ref);
  if (claim.kind !== 'send') throw new Error(`nothing to send: ${claim.kind}`);
  return claim;
}

const VERDICTS = {
  accepted: { next: 'accepted' },
  drift: { next: 'accepted' },
  refused: { next: 'refused', hint: null },
  unknown: { next: 'unknown', delayMs: 15_000 },
  retry: { next: 'retry', delayMs: 60_000, because: 'failed' },
} as const satisfies Record<string, Verdict>;

const EXCHANGES: Readonly<Record<keyof typeof VERDICTS, Exchange>> = {
  accepted: ACCEPTING,
  drift: { kind: 'contract_broken', httpStatus: 200, issues: ['data: is required (object)'] },
  refused: refusedWith(400, 'Missing required field'),
  unknown: STOPPED,
  retry: STOPPED,
};

/** Acknowledges the head of a tow's outbox with this outcome. Returns the report's id. */
export async function answerHead(
  app: Pick<App, 'foundation'>,
  ref: string,
  outcome: keyof typeof VERDICTS,
  exchange: Exchange = EXCHANGES[outcome],
): Promise<string> {
  const claimed = await claimHead(app, ref);
  const report = reportIn(claimed);
  const ended = result(VERDICTS[outcome], {
    exchange,
    startedAt: '2024-11-20T10:00:00.000Z',
    answer: outcome === 'accepted' ? { towing_reference_id: ref } : null,
    rawBody: outcome === 'drift' ? '{"done":true}' : null,
    task: taskAfter(outcome, report),
    difference: outcome === 'drift' ? oddAnswer(report.kind) : null,
  });
  await outboxOf(app.foundation).settle(claimed, ended);
  return report.id;
}

function taskAfter(outcome: keyof typeof VERDICTS, report: { id: string; kind: ReportKind }): NewTask | null {
  if (outcome !== 'refused') return null;
  return refusedTask({ ...report, httpStatus: 400, message: 'Missing required field', hint: null });
}

export const VIOLATION_FORM: Omit<ViolationInput, 'metadata'> = {
  latitude: 24.7136,
  longitude: 46.6753,
  location: 'King Fahd Road, Riyadh',
  plateNumber: 'ABJ 1235',
  plateType: 'PRIVATE',
  zoneId: '11111111-2222-4333-8444-555555555555',
  violationType: 'WRONG_PARKING',
};

/** Stores a violation that waits to be sent; returns its id. */
export async function newViolation(
  { foundation }: Pick<App, 'foundation'>,
  metadata: { id?: string } = {},
): Promise<string> {
  const id = `vio-${nextNumber()}`;
  const violation = {
    id,
    api: 'reference',
    form: { ...VIOLATION_FORM, metadata: { id, ...metadata } },
    metadataText: JSON.stringify({ id, ...metadata }),
    images: [],
    warnings: [],
    createdAt: new Date(foundation.clock.nowMs()).toISOString(),
    by: 'tester',
  } as const;
  const stored = await report({ records: recordsOf(foundation.redis) }, violation);
  if (stored !== 'saved') throw new Error(`the violation is ${stored}`);
  return id;
}

export async function violationOf(app: Pick<App, 'consoleUrl' | 'apiKey'>, id: string): Promise<ViolationView> {
  const response = await api(app).get(`/api/violations/${id}`);
  return violationView.parse(response.body);
}
