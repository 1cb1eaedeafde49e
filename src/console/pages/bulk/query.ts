import { BULK_OUTCOMES, type BulkOutcome } from '../../../contracts/bulk';
import type { BulkRunWithItems } from '../../../workflow/bulk-port';
import type { Failure } from '../../answers';
import { oneOf, type Viewer } from '../../viewer';

/** Which of the tasks of a run its page shows, as its address says it. */
export interface RunQuery {
  readonly outcome: BulkOutcome | null;
  readonly all: boolean;
}

export interface RunProps {
  readonly viewer: Viewer;
  readonly run: BulkRunWithItems;
  readonly query: RunQuery;
  readonly failure: Failure | null;
}

/** Names what is started, resumed and aborted, so that a refusal is shown there. */
export const RUN_FORM = 'bulk-run';

export function bulkPath(id: string, { outcome = null, all = false }: Partial<RunQuery> = {}): string {
  const said = new URLSearchParams({ ...(outcome === null ? {} : { outcome }), ...(all ? { all: 'true' } : {}) });
  const path = `/tasks/bulk/${encodeURIComponent(id)}`;
  return said.size === 0 ? path : `${path}?${said.toString()}`;
}

export function readRunQuery(given: URLSearchParams): RunQuery {
  return { outcome: oneOf(BULK_OUTCOMES, given.get('outcome') ?? undefined), all: given.get('all') === 'true' };
}
