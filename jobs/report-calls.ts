import { OPERATIONS } from '../src/contracts/service/operations';
import type { Entry } from '../src/domain/outbox/entry';
import type { StoredTow } from '../src/domain/outbox/outbox-record';
import type { ReportKind } from '../src/domain/vocabulary';
import { brokenIf, type CallOptions, type CallResult, type ServicePort } from '../src/workflow/service/service-port';
import type { EntryCalls } from './entry-calls';

export interface ReportCallTools {
  readonly service: ServicePort;
}

/** Reports of tows: JSON bodies, frozen when their facts were recorded. */
export const reportCalls: EntryCalls<StoredTow, ReportCallTools> = {
  prepare: ({ record, entry }, { service }) =>
    Promise.resolve({
      kind: 'ready',
      mayOutlastLease: false,
      send: async (options) => aboutTow(record.ref, await call(entry, service, options)),
    }),
  operation: ({ entry }) => entry.kind,
  logLine: ({ record, entry }) => ({
    event: 'report.attempted',
    facts: { towing_reference_id: record.ref, report_id: entry.id, kind: entry.kind },
  }),
};

function reportOf({ id, kind }: Entry): { readonly id: string; readonly kind: ReportKind } {
  if (kind === 'violation') throw new Error('not a report');
  return { id, kind };
}

function call(entry: Entry, service: ServicePort, options: CallOptions): Promise<CallResult<ReportKind>> {
  const { kind } = reportOf(entry);
  return service.call(kind, OPERATIONS[kind].request.parse(entry.body), options);
}

/** An answer that names another tow breaks the contract. */
function aboutTow(ref: string, result: CallResult<ReportKind>): CallResult<ReportKind> {
  const isAboutAnother = (data: CallResult<ReportKind>['data']) => data !== null && data.towing_reference_id !== ref;
  return brokenIf(isAboutAnother, 'data.towing_reference_id: names another tow', result);
}
