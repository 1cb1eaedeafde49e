import { RUN_OUTCOMES, type RunItemView, type RunOutcome, type RunView } from '../../../contracts/ops/runs';
import { oneOf, type Viewer } from '../../viewer';
import type { FormFailure } from '../../page';
import { runPath } from '../../page-table';

/** The query of a run, as in its address. */
export interface RunQuery {
  readonly outcome: RunOutcome | null;
  readonly cursor: string | null;
}

export interface RunProps {
  readonly viewer: Viewer;
  readonly run: RunView;
  readonly items: { readonly items: readonly RunItemView[]; readonly next_cursor: string | null };
  readonly query: RunQuery;
  readonly failure: FormFailure | null;
}

/** The form that starts and aborts a run. */
export const RUN_FORM = 'run';

/** The query of the address and of the list of items. */
export function queryOf({ outcome, cursor }: RunQuery): Readonly<Record<string, string>> {
  return { ...(outcome === null ? {} : { outcome }), ...(cursor === null ? {} : { cursor }) };
}

export function addressOf(id: string, query: Partial<RunQuery>): string {
  const params = new URLSearchParams(queryOf({ outcome: null, cursor: null, ...query }));
  return params.size === 0 ? runPath(id) : `${runPath(id)}?${params.toString()}`;
}

export function readRunQuery(given: URLSearchParams): RunQuery {
  return { outcome: oneOf(RUN_OUTCOMES, given.get('outcome') ?? undefined), cursor: given.get('cursor') };
}
