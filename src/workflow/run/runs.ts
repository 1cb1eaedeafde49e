import {
  RUN_ROLES,
  type RunOutcome,
  type RunPreviewBody,
  type RunResult,
  type RunView,
} from '../../contracts/ops/runs';
import { auditOf, type Actor, type AuditAction } from '../../domain/ops/audit';
import { conflict, forbidden, unknown } from '../../domain/refusal';
import { DAY_MS, HOUR_MS, isoOrNull, isoTimestamp } from '../../domain/timestamp';
import { roleAllows } from '../../domain/vocabulary';
import type { Clock } from '../../platform/clock';
import { refused, type ActionResult } from '../action-result';
import { chosenBy, type ChoiceTools } from './run-choice';
import type { RunStore, StoredRun } from './run-port';
import type { IdempotencyRecord } from '../transaction-port';

/**
 * Runs: one action on many tasks or deliveries. A run carries out its action on exactly the previewed items, each once,
 * with the rights of the person who started it. Workers do it (jobs/carry-out-run.ts).
 */

export interface RunTools extends ChoiceTools {
  readonly runs: RunStore;
  readonly clock: Clock;
}

interface RunRequest {
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

/** How long a run is kept after its preview, and after its start. */
export const PREVIEW_MS = HOUR_MS;
export const RUN_MS = DAY_MS;

export const NO_SUCH_RUN = unknown(
  'run_not_found',
  'There is no such run; a preview is kept for an hour, a run for a day.',
).refusal;

/** Chooses and freezes the items, and determines for each whether the action is possible. */
export async function previewRun(
  tools: RunTools,
  { asked, actor, idempotency }: RunRequest & { readonly asked: RunPreviewBody },
): Promise<ActionResult<RunView>> {
  const { action, reason = null } = asked;
  const needed = RUN_ROLES[action];
  if (!roleAllows(actor.role, needed)) return refused(forbidden(`This needs the role ${needed}.`).refusal);
  const choice = await chosenBy(tools, asked);
  if (!choice.ok) return refused(choice.refusal);
  const { id: actorId, name, role } = actor;
  const by = { id: actorId, name, role };
  const document = { id: tools.clock.id(), by, action, reason, total: choice.chosen.length };
  return tools.runs.create(document, choice.chosen, idempotency);
}

/** Starts a previewed run. Allowed for the person who previewed it, and for ops. */
export function startRun(
  { runs }: Pick<RunTools, 'runs'>,
  { id, actor, idempotency }: RunRequest & { readonly id: string },
): Promise<ActionResult<RunView>> {
  return runs.change(id, idempotency, (run) => {
    if (actor.id !== run.document.by.id && !roleAllows(actor.role, 'ops')) {
      return forbidden('Only the person who previewed the run, or ops, may start it.');
    }
    if (run.state !== 'previewed') return notNow(run);
    if (undecidedIn(run) === 0) return conflict('nothing_waits', 'The action is possible for none of its items.');
    const { id: actorId, name, role } = actor;
    const startedBy = { id: actorId, name, role };
    return { ok: true, change: { state: 'running', startedBy, audit: auditEntryOf('run.started', run, actor) } };
  });
}

/** Ends a run: items without a result are skipped. Allowed for every person who may carry out the action. */
export function abortRun(
  { runs }: Pick<RunTools, 'runs'>,
  { id, actor, idempotency }: RunRequest & { readonly id: string },
): Promise<ActionResult<RunView>> {
  return runs.change(id, idempotency, (run) => {
    const role = RUN_ROLES[run.document.action];
    if (!roleAllows(actor.role, role)) return forbidden(`This needs the role ${role}.`);
    if (run.state !== 'previewed' && run.state !== 'running') return notNow(run);
    return { ok: true, change: { state: 'aborted', audit: auditEntryOf('run.aborted', run, actor) } };
  });
}

function notNow({ state }: StoredRun) {
  return conflict(`run_${state}`, `The run is ${state}.`);
}

function auditEntryOf(action: AuditAction, run: StoredRun, actor: Actor) {
  const { id, action: runAction, reason: why } = run.document;
  return auditOf(actor, action, {
    on: {},
    why,
    what: { run_id: id, run_action: runAction, item_count: undecidedIn(run) },
  });
}

/** The number of items without a result. */
export function undecidedIn({ document, counts }: Pick<StoredRun, 'document' | 'counts'>): number {
  return document.total - counts.done - counts.refused - counts.gone;
}

/** The outcome of an item: an aborted run has skipped every item without a result. */
export function outcomeAt({ state }: Pick<StoredRun, 'state'>, result: RunResult | null): RunOutcome {
  return result?.outcome ?? (state === 'aborted' ? 'skipped' : 'waiting');
}

/** A run as the API shows it. */
export function runViewOf(run: StoredRun): RunView {
  const { document, state, startedBy, previewedAtMs, startedAtMs, endedAtMs, counts } = run;
  const undecided = undecidedIn(run);
  const left = state === 'aborted' ? { waiting: 0, skipped: undecided } : { waiting: undecided, skipped: 0 };
  return {
    id: document.id,
    action: document.action,
    reason: document.reason,
    state,
    by: document.by.name,
    by_id: document.by.id,
    started_by: startedBy?.name ?? null,
    previewed_at: isoTimestamp(previewedAtMs),
    started_at: isoOrNull(startedAtMs),
    ended_at: isoOrNull(endedAtMs),
    expires_at: isoTimestamp(startedAtMs === null ? previewedAtMs + PREVIEW_MS : startedAtMs + RUN_MS),
    total: document.total,
    counts: { ...left, ...counts },
  };
}
