import { BULK_OUTCOMES, type BulkOutcome } from '../../../contracts/bulk';
import type { BulkRunWithItems } from '../../../workflow/bulk-port';
import type { FormFailure } from '../../page';
import { oneOf, type Viewer } from '../../viewer';
import type { Refusal } from '../../../domain/refusal';

/** The query of a run, as in its address. */
export interface RunQuery {
  readonly outcome: BulkOutcome | null;
  readonly all: boolean;
}

export interface RunProps {
  readonly viewer: Viewer;
  readonly run: BulkRunWithItems;
  readonly query: RunQuery;
  readonly failure: FormFailure | null;
}

/** The form that starts, resumes and aborts a run. */
export const RUN_FORM = 'bulk-run';

export function bulkPath(id: string, { outcome = null, all = false }: Partial<RunQuery> = {}): string {
  const params = new URLSearchParams({ ...(outcome === null ? {} : { outcome }), ...(all ? { all: 'true' } : {}) });
  const path = `/tasks/bulk/${encodeURIComponent(id)}`;
  return params.size === 0 ? path : `${path}?${params.toString()}`;
}

export function readRunQuery(given: URLSearchParams): RunQuery {
  return { outcome: oneOf(BULK_OUTCOMES, given.get('outcome') ?? undefined), all: given.get('all') === 'true' };
}

const HTTP_STATUS = { conflict: 409, invalid: 422, forbidden: 403, unknown: 404 } as const satisfies Record<
  Refusal['kind'],
  number
>;

/** A refusal of a bulk decision as a form shows it. */
export function failureOf(refusal: Refusal, on: Pick<FormFailure, 'form' | 'entered'>): FormFailure {
  const { kind, code, message } = refusal;
  const details = code === 'field_invalid' ? refusal.details : [];
  return { ...on, refusal: { code, message, details, httpStatus: HTTP_STATUS[kind], retryAfterMs: null } };
}
