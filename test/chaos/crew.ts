import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject, ReportKind } from '../../src/domain/vocabulary';
import type { Clock } from '../../src/platform/clock';
import type { Life, Step } from './lives';
import { report, towOf, whereaboutsOf, type PatrolTools, type ReportedViolation } from './patrol';
import type { ServiceRecord } from './record';

/** What the crew said about one tow, and what must arrive of it at the service. */
export interface Story {
  readonly ref: string;
  readonly life: Life;
  /** What the tow comes from, when a patrol reported that, and how the service calls it. */
  readonly violation: ReportedViolation | null;
  readonly violationReference: string;
  /** The reports in the order in which they were said. */
  readonly expected: readonly { readonly kind: ReportKind; readonly body: JsonObject }[];
  /** The facts as they must stand in the tow, the invoice's moment left out: it is the console's. */
  readonly facts: readonly { readonly event: ReportKind; readonly occurredAt: string | null }[];
  /** What the operator API did not take although it had to. */
  readonly refusals: readonly string[];
}

export interface CrewTools extends PatrolTools {
  readonly record: ServiceRecord;
  readonly clock: Clock;
  /** Told the reference of every tow that the service ordered. */
  readonly ordered: (ref: string) => void;
}

const RIYADH_OFFSET_MS = 3 * 3_600_000;
const ACKNOWLEDGED_LOOK_MS = 300;

/**
 * Lives one tow from its order, or from the violation before it, to the last thing the crew has to say, through the
 * operator API only. `index` is its place in the run, all rounds counted.
 */
export async function playTow(life: Life, index: number, tools: CrewTools): Promise<Story> {
  const { record } = tools;
  const violation = life.sighting && (await report(life.sighting, index, tools));
  const order = violation ? await towOf(violation, tools) : await record.orderTow(!life.hasEarlyInvoice);
  tools.ordered(order.ref);
  if (life.hasEarlyInvoice) await sendInvoiceFirst(order.ref, tools);
  if (life.isRequestedTwice) await record.sendTowRequest(order.ref);
  const known = violation ? whereaboutsOf(violation) : {};
  const told = await tell({ ...order, known }, life.steps, tools);
  return { ref: order.ref, life, violation, violationReference: order.violation, ...told };
}

/** A tow as the crew finds it: what is known of it need not be said. */
interface Order {
  readonly ref: string;
  readonly violation: string;
  readonly known: JsonObject;
}

async function tell(
  order: Order,
  steps: readonly Step[],
  tools: CrewTools,
): Promise<Pick<Story, 'expected' | 'facts' | 'refusals'>> {
  const { client, clock, signal } = tools;
  const expected: Story['expected'][number][] = [];
  const facts: Story['facts'][number][] = [];
  const refusals: string[] = [];
  for (const [index, step] of steps.entries()) {
    await pause(step.pauseMs, undefined, { signal });
    const nowMs = clock.nowMs();
    const said = step.kind === 'invoice' ? step.entry : { ...step.entry, occurred_at: spelled(step, nowMs) };
    const answer = await client.post(`/tows/${encodeURIComponent(order.ref)}/${step.kind}`, {
      body: said,
      key: `${order.ref} ${index} ${step.kind}`,
      // The tow request is on its way, or waits for a worker.
      waitsOut404: true,
    });
    if (answer.status !== 202) refusals.push(`${step.kind} was answered ${answer.status} ${answer.code}`);
    const moment = new Date(nowMs).toISOString();
    expected.push({ kind: step.kind, body: bodyOf(step, { ...order, moment }) });
    facts.push({ event: step.kind, occurredAt: step.kind === 'invoice' ? null : moment });
  }
  return { expected, facts, refusals };
}

function spelled(step: Step, nowMs: number): string {
  if (!step.inRiyadhTime) return new Date(nowMs).toISOString();
  return new Date(nowMs + RIYADH_OFFSET_MS).toISOString().replace('Z', '+03:00');
}

/**
 * An invoice for a tow that nobody knows yet. The tow is ordered only once it was taken: coming after the operator's own
 * invoice request it would pass for the proof of that one.
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

/** service-api 4.2 to 4.4, written down once more and on purpose: a judge must not share the rules he judges. */
function bodyOf({ kind, entry }: Step, tow: Order & { moment: string }): JsonObject {
  const towing = { towing_reference_id: tow.ref };
  const both = { violation_reference_id: tow.violation, ...towing };
  switch (kind) {
    case 'started':
      return { ...both, ...tow.known, ...entry, status_update_time: tow.moment };
    case 'detained':
    case 'released':
    case 'canceled':
      return { ...both, ...entry };
    case 'invoice':
    case 'payment':
      return { ...towing, ...entry };
  }
}
