import { setTimeout as pause } from 'node:timers/promises';
import { RIYADH_OFFSET_MS } from '../../src/domain/timestamp';
import type { JsonObject, ReportKind } from '../../src/domain/vocabulary';
import type { Clock } from '../../src/platform/clock';
import type { TowScenario, ScenarioStep } from './tow-scenarios';
import { report, towOf, towFieldsOf, type PatrolTools, type CrewViolation } from './report-violation';
import type { ServiceRecord } from './record';

/** What the crew recorded about one tow, and what the service must receive. */
export interface PlayedTow {
  readonly ref: string;
  readonly scenario: TowScenario;
  /** The violation that led to the tow, if a patrol reported one. */
  readonly violation: CrewViolation | null;
  readonly violationReference: string;
  /** The reports in the order of their facts. */
  readonly expected: readonly { readonly kind: ReportKind; readonly body: JsonObject }[];
  /** The facts that the tow must show; without the time of the invoice, which the console sets. */
  readonly facts: readonly { readonly event: ReportKind; readonly occurredAt: string | null }[];
  /** Facts that the operator API refused. */
  readonly refusals: readonly string[];
}

export interface CrewTools extends PatrolTools {
  readonly record: ServiceRecord;
  readonly clock: Clock;
  /** Called with the reference of every ordered tow. */
  readonly ordered: (ref: string) => void;
}

const ACKNOWLEDGED_LOOK_MS = 300;

/**
 * Plays one tow through the operator API, from its order or violation to its last fact. `index` is its number in the
 * run.
 */
export async function playTow(scenario: TowScenario, index: number, tools: CrewTools): Promise<PlayedTow> {
  const { record } = tools;
  const violation = scenario.violationScenario && (await report(scenario.violationScenario, index, tools));
  const order = violation ? await towOf(violation, tools) : await record.orderTow(!scenario.hasEarlyInvoice);
  tools.ordered(order.ref);
  if (scenario.hasEarlyInvoice) await sendInvoiceFirst(order.ref, tools);
  if (scenario.isRequestedTwice) await record.sendTowRequest(order.ref);
  const known = violation ? towFieldsOf(violation) : {};
  const recorded = await recordFacts({ ...order, known }, scenario.steps, tools);
  return { ref: order.ref, scenario, violation, violationReference: order.violation, ...recorded };
}

/** A tow as the crew finds it; `known` fields need not be entered. */
interface FoundTow {
  readonly ref: string;
  readonly violation: string;
  readonly known: JsonObject;
}

async function recordFacts(
  order: FoundTow,
  steps: readonly ScenarioStep[],
  tools: CrewTools,
): Promise<Pick<PlayedTow, 'expected' | 'facts' | 'refusals'>> {
  const { client, clock, signal } = tools;
  const expected: PlayedTow['expected'][number][] = [];
  const facts: PlayedTow['facts'][number][] = [];
  const refusals: string[] = [];
  for (const [index, step] of steps.entries()) {
    await pause(step.pauseMs, undefined, { signal });
    const nowMs = clock.nowMs();
    const entered = step.kind === 'invoice' ? step.entry : { ...step.entry, occurred_at: formatted(step, nowMs) };
    const answer = await client.post(`/tows/${encodeURIComponent(order.ref)}/${step.kind}`, {
      body: entered,
      key: `${order.ref} ${index} ${step.kind}`,
      // The tow request may still be on its way, or wait for a worker.
      waitsOut404: true,
    });
    if (answer.status !== 202) refusals.push(`${step.kind} was answered ${answer.status} ${answer.code}`);
    const utc = new Date(nowMs).toISOString();
    // Text in UTC is sent as it is; a converted time has no fraction of zeros.
    const occurredAt = step.inRiyadhTime ? utc.replace('.000Z', 'Z') : utc;
    expected.push({ kind: step.kind, body: bodyOf(step, { ...order, occurredAt }) });
    facts.push({ event: step.kind, occurredAt: step.kind === 'invoice' ? null : occurredAt });
  }
  return { expected, facts, refusals };
}

function formatted(step: ScenarioStep, nowMs: number): string {
  if (!step.inRiyadhTime) return new Date(nowMs).toISOString();
  return new Date(nowMs + RIYADH_OFFSET_MS).toISOString().replace('Z', '+03:00');
}

/**
 * Sends an invoice for an unknown tow and orders the tow once the invoice is acknowledged. Later it would count as
 * proof of the operator's own invoice request.
 */
async function sendInvoiceFirst(ref: string, { record, signal }: CrewTools): Promise<void> {
  const id = await record.sendInvoice(ref);
  for (;;) {
    const attempts = await record.webhooks();
    if (attempts.some(({ webhook_id: sent, status }) => sent === id && status === 200)) break;
    await pause(ACKNOWLEDGED_LOOK_MS, undefined, { signal });
  }
  await record.sendTowRequest(ref);
}

/**
 * The bodies of docs/service-api.md#operations, written a second time on purpose: the judge shares no rules with the
 * product.
 */
function bodyOf({ kind, entry }: ScenarioStep, tow: FoundTow & { occurredAt: string }): JsonObject {
  const towing = { towing_reference_id: tow.ref };
  const both = { violation_reference_id: tow.violation, ...towing };
  switch (kind) {
    case 'started':
      return { ...both, ...tow.known, ...entry, status_update_time: tow.occurredAt };
    case 'detained':
    case 'released':
    case 'canceled':
      return { ...both, ...entry };
    case 'invoice':
    case 'payment':
      return { ...towing, ...entry };
  }
}
