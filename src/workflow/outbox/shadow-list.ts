import { csvLine } from '../../contracts/csv';
import { OPERATIONS } from '../../contracts/service/operations';
import type { ModeView, ShadowCall, ShadowItem } from '../../contracts/outbox/shadow';
import { isReport, isSettled, isUnsettled } from '../../domain/outbox/outbox';
import { isoOrNull, isoTimestamp } from '../../domain/timestamp';
import type { Violation } from '../../domain/violation/violation';
import type { JsonObject } from '../../domain/vocabulary';
import type { Page } from '../list-port';
import { sentViolationOf } from '../violation/violation-submission';
import type { KnownTow } from '../../domain/tow/stored-tow';
import type { StoredViolation } from '../../domain/outbox/outbox-record';
import { entryOf } from '../../domain/violation/stored-violation';
import type { AsRead } from './read-record';

/** The records of a shadow time, and the calls that would have been made for them. */

export type ShadowRecord = AsRead<KnownTow> | AsRead<StoredViolation>;

export interface ShadowSummary {
  /** Since when nothing is sent, ms since the epoch; null in live mode. */
  readonly sinceMs: number | null;
  /** Whether the switch of ops is off. */
  readonly isSwitchedOff: boolean;
  /** Tows and violations that wait for a decision. */
  readonly held: number;
}

/** The mode of the installation. */
export function modeViewOf({ sinceMs, isSwitchedOff }: Omit<ShadowSummary, 'held'>): ModeView {
  return {
    state: sinceMs === null ? 'live' : 'shadow',
    since: isoOrNull(sinceMs),
    switch: isSwitchedOff ? 'shadow' : 'live',
  };
}

export interface ShadowStore {
  summary(): Promise<ShadowSummary>;
  /** Held records, oldest first. */
  list(page: { readonly cursor: string | null; readonly limit: number }): Promise<Page<ShadowRecord>>;
}

/** Where a call goes: the base address of the service with the path of the operation. */
export type AddressOf = (operation: keyof typeof OPERATIONS) => string;

/** A held record with its calls that are not settled. */
export function shadowItemOf(held: ShadowRecord, addressOf: AddressOf): ShadowItem {
  switch (held.kind) {
    case 'tow': {
      const { tow, entries } = held;
      return {
        kind: 'tow',
        id: tow.towingReferenceId,
        violation_reference_id: tow.violationReferenceId,
        plate_number: tow.plateNumber,
        state: tow.state,
        since: tow.requestedAt,
        calls: entries
          .filter(isReport)
          .filter(isUnsettled)
          .map(({ id, kind, body, createdAtMs }) => ({
            report_id: id,
            operation: kind,
            method: OPERATIONS[kind].method,
            address: addressOf(kind),
            recorded_at: isoTimestamp(createdAtMs),
            body: { ...body },
            images: [],
          })),
      };
    }
    case 'violation': {
      const { violation, reference } = held;
      const { state } = entryOf(held);
      return {
        kind: 'violation',
        id: violation.id,
        violation_reference_id: reference,
        plate_number: violation.form.plateNumber,
        state,
        since: violation.createdAt,
        calls: isSettled(state) ? [] : [callOf(violation, addressOf)],
      };
    }
  }
}

function callOf(violation: Violation, addressOf: AddressOf): ShadowCall {
  const { id, images, createdAt } = violation;
  const { operation, form, metadataText, hasImages } = sentViolationOf(violation);
  return {
    report_id: id,
    operation: 'violation',
    method: OPERATIONS[operation].method,
    address: addressOf(operation),
    recorded_at: createdAt,
    body: asText({ ...form, metadata: metadataText }),
    images: hasImages ? images.map(({ name }) => name) : [],
  };
}

/** Fields of a form as they are sent. */
function asText(fields: object): JsonObject {
  const given = Object.entries<unknown>({ ...fields }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

const COLUMNS = [
  'recorded_at',
  'kind',
  'id',
  'violation_reference_id',
  'report_id',
  'operation',
  'method',
  'address',
  'body',
  'images',
] as const;

/** All held records as CSV (RFC 4180), one line per call, page by page. */
export async function* shadowCsv(store: Pick<ShadowStore, 'list'>, addressOf: AddressOf): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  let cursor: string | null = null;
  do {
    const page: Page<ShadowRecord> = await store.list({ cursor, limit: CSV_PAGE });
    yield page.items.flatMap((held) => linesOf(shadowItemOf(held, addressOf))).join('');
    cursor = page.nextCursor;
  } while (cursor !== null);
}

const CSV_PAGE = 100;

function linesOf(item: ShadowItem): string[] {
  return item.calls.map((call) => {
    const values = {
      ...call,
      kind: item.kind,
      id: item.id,
      violation_reference_id: item.violation_reference_id ?? '',
      body: JSON.stringify(call.body),
      images: call.images.join(' '),
    };
    return csvLine(COLUMNS.map((name) => values[name]));
  });
}
