import { csvLine } from '../../contracts/common';
import { OPERATIONS } from '../../contracts/service/operations';
import type { WithheldCall, WithheldItem } from '../../contracts/outbox/withheld';
import { isReport, isSettled, isUnsettled } from '../../domain/outbox/outbox';
import { isoTimestamp } from '../../domain/timestamp';
import type { Violation } from '../../domain/violation/violation';
import type { JsonObject } from '../../domain/vocabulary';
import type { Page } from '../list-port';
import type { SendingSummary } from './service-mode';
import { sentViolationOf } from '../violation/violation-submission';
import type { KnownTow } from '../../domain/tow/stored-tow';
import type { StoredViolation } from '../../domain/outbox/outbox-record';
import { entryOf } from '../../domain/violation/stored-violation';
import type { AsRead } from './read-record';

/** The withheld records, and the calls that would have been made for them. */

export type WithheldRecord = AsRead<KnownTow> | AsRead<StoredViolation>;

export interface WithheldStore {
  summary(): Promise<SendingSummary>;
  /** Held records, oldest first. */
  list(page: { readonly cursor: string | null; readonly limit: number }): Promise<Page<WithheldRecord>>;
}

/** Where a call goes: the base address of the service with the path of the operation. */
export type AddressOf = (operation: keyof typeof OPERATIONS) => string;

/** A held record with its calls that are not settled. */
export function withheldItemOf(held: WithheldRecord, addressOf: AddressOf): WithheldItem {
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

function callOf(violation: Violation, addressOf: AddressOf): WithheldCall {
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
export async function* withheldCsv(store: Pick<WithheldStore, 'list'>, addressOf: AddressOf): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  let cursor: string | null = null;
  do {
    const page: Page<WithheldRecord> = await store.list({ cursor, limit: CSV_PAGE });
    yield page.items.flatMap((held) => linesOf(withheldItemOf(held, addressOf))).join('');
    cursor = page.nextCursor;
  } while (cursor !== null);
}

const CSV_PAGE = 100;

function linesOf(item: WithheldItem): string[] {
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
