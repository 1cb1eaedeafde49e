import { REPORT_KINDS, type JsonObject } from '../../src/domain/vocabulary';
import type { Stage } from './scenario';

/** The result of a run without ids, times and numbers of attempts, which differ from run to run. */
export interface Outcome {
  /** Null when the tow is unknown. */
  readonly tow: JsonObject | null;
  readonly reports: readonly string[];
  readonly tasks: readonly string[];
  /** The events of the tow, in order. */
  readonly events: readonly string[];
  readonly deliveries: readonly string[];
  /** The kinds of reports in the order of their arrival at the service; consecutive repeats count once. */
  readonly order: readonly string[];
  /** Calls that the service received, per kind of report. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Timeline entries that record an event, not an attempt to send. */
const EVENTS = ['tow.requested', 'request.rival_kept', 'invoice.attached', 'fact.recorded'];

const TIMESTAMP = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

export async function outcomeOf({ lane, ref, violation }: Stage): Promise<Outcome> {
  const record = await lane.stores.tows.read(ref);
  const { items } = await lane.stores.deliveries.list({ cursor: null, limit: 100 });
  const calls = (await lane.service.calls(ref)).map(({ operation }) => operation);
  const plain = (value: JsonObject) =>
    JSON.stringify(value).replaceAll(ref, 'TW').replaceAll(violation, 'V').replaceAll(TIMESTAMP, 'then');
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
    events: (record?.timeline ?? []).map(({ type }) => type).filter((type) => EVENTS.includes(type)),
    deliveries: items
      .filter(({ towingReferenceId }) => towingReferenceId === ref)
      .map(({ kind, state, verdict }) => `${kind} ${state} ${verdict}`)
      .toSorted(),
    order: calls.filter((operation, index) => operation !== calls[index - 1]),
    counts: Object.fromEntries(REPORT_KINDS.map((kind) => [kind, calls.filter((one) => one === kind).length])),
  };
}
