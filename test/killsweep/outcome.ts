import { REPORT_KINDS, type JsonObject } from '../../src/domain/vocabulary';
import type { Stage } from './scenario';

/** What a run came to, without what differs from run to run: ids, times and how often something was tried. */
export interface Outcome {
  /** Null when the tow is not known. */
  readonly tow: JsonObject | null;
  readonly reports: readonly string[];
  readonly tasks: readonly string[];
  /** What happened to the tow, in order. */
  readonly story: readonly string[];
  readonly deliveries: readonly string[];
  /** The reports as the service saw them, each once however often it was repeated in a row. */
  readonly order: readonly string[];
  /** How often the service saw each kind of report. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Entries of the timeline that stand for what happened, not for how it was tried. */
const STORY = ['tow.requested', 'request.rival_kept', 'invoice.attached', 'fact.recorded'];

const MOMENT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

export async function outcomeOf({ lane, ref, violation }: Stage): Promise<Outcome> {
  const record = await lane.stores.tows.read(ref);
  const { items } = await lane.stores.deliveries.list({ cursor: null, limit: 100 });
  const calls = (await lane.service.calls(ref)).map(({ operation }) => operation);
  const plain = (value: JsonObject) =>
    JSON.stringify(value).replaceAll(ref, 'TW').replaceAll(violation, 'V').replaceAll(MOMENT, 'then');
  return {
    tow: record && {
      state: record.tow.state,
      facts: record.tow.facts.map(({ event }) => event),
      payments: record.tow.payments.map(({ paymentStatus }) => paymentStatus),
      rivals: record.tow.rivalRequests.map(({ metadata }) => metadata),
      invoices: record.tow.invoiceWebhooks.map(({ towingInvoice }) => towingInvoice['total_amount'] ?? null),
    },
    reports: (record?.reports ?? []).map(
      ({ kind, state, inFlight, body }) => `${kind} ${state}${inFlight ? ' in flight' : ''} ${plain(body)}`,
    ),
    tasks: (record?.tasks ?? []).map(({ type, actions }) => `${type}: ${actions.join(', ')}`),
    story: (record?.timeline ?? []).map(({ type }) => type).filter((type) => STORY.includes(type)),
    deliveries: items
      .filter(({ towingReferenceId }) => towingReferenceId === ref)
      .map(({ kind, state, verdict }) => `${kind} ${state} ${verdict}`)
      .toSorted(),
    order: calls.filter((operation, index) => operation !== calls[index - 1]),
    counts: Object.fromEntries(REPORT_KINDS.map((kind) => [kind, calls.filter((one) => one === kind).length])),
  };
}
