import { auditOf, type Actor, type AuditAction } from '../domain/audit';
import { ACTION_ROLES } from '../domain/decisions';
import { forbidden, unknown, type Decision } from '../domain/refusal';
import { roleAllows } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { BulkRun, BulkRunWithItems, BulkStore, StoredBulk } from './bulk-port';
import { previewOf, type PreviewTools } from './bulk-preview';
import { abort, begin } from './bulk-rules';

/**
 * Decisions on many tasks at once. A run decides exactly the previewed tasks that still ask the same question, each once,
 * with the rights of the person who started it. Workers carry it out (jobs/decide-tasks.ts).
 */
export interface Bulk {
  /** Chooses and freezes tasks (`asked`: bulkPreviewBody) and determines for each whether the decision is possible. */
  preview(asked: unknown, actor: Actor): Promise<Decision<{ run: BulkRunWithItems }>>;
  /** Starts a previewed run. Allowed for the person who previewed it, and for ops. */
  start(runId: string, actor: Actor): Promise<Decision<object>>;
  /** Resumes an interrupted run: decides the tasks without a result. Allowed as in `start`. */
  resume(runId: string, actor: Actor): Promise<Decision<object>>;
  /** Ends a run before its next task. Allowed for every person who may make such a decision. */
  abort(runId: string, actor: Actor): Promise<Decision<object>>;
  /** Null when there is no such run, or it has expired. */
  read(runId: string): Promise<BulkRunWithItems | null>;
  /** The newest runs of all people. */
  recent(limit: number): Promise<readonly BulkRun[]>;
}

export interface BulkOptions extends PreviewTools {
  readonly store: BulkStore;
  readonly clock: Clock;
}

export function createBulk(options: BulkOptions): Bulk {
  const { store, clock } = options;

  /** Commits what the rules decide on a run, with its audit entry. */
  const submit = async (
    runId: string,
    { actor, action }: { actor: Actor; action: AuditAction },
    decide: (run: StoredBulk) => Decision<Pick<StoredBulk, 'head'>>,
  ): Promise<Decision<object>> => {
    const decided = await store.change(runId, (run) => {
      const value = decide(run);
      const change = value.ok ? { head: value.head, audit: auditEntryOf(action, run, actor) } : null;
      return Promise.resolve({ value, change });
    });
    return decided ?? noSuchRun;
  };

  const run = (mode: 'start' | 'resume', runId: string, actor: Actor): Promise<Decision<object>> =>
    submit(runId, { actor, action: MODE_ACTIONS[mode] }, ({ document, head, nowMs }) =>
      actor.id === document.by.id || roleAllows(actor.role, 'ops')
        ? begin(head, { mode, runBy: actor, nowMs })
        : forbidden('Only the person who previewed the run, or ops, may start it.'),
    );

  return {
    async preview(asked, actor) {
      const id = clock.id();
      const found = await previewOf(options, { id, asked, actor });
      if (!found.ok) return found;
      await store.create(found.preview.document, found.preview.chosen);
      const created = await store.read(id);
      if (!created) throw new Error('the run that was just previewed is gone');
      return { ok: true, run: created };
    },
    start: (runId, actor) => run('start', runId, actor),
    resume: (runId, actor) => run('resume', runId, actor),
    abort: (runId, actor) =>
      submit(runId, { actor, action: 'bulk.aborted' }, ({ document, head, nowMs }) => {
        const role = ACTION_ROLES[document.action];
        return roleAllows(actor.role, role) ? abort(head, nowMs) : forbidden(`This needs the role ${role}.`);
      }),
    read: (runId) => store.read(runId),
    recent: (limit) => store.recent(limit),
  };
}

const MODE_ACTIONS = { start: 'bulk.started', resume: 'bulk.resumed' } as const satisfies Record<string, AuditAction>;

const noSuchRun = unknown('bulk_not_found', 'There is no such run; a preview is kept for an hour, a run for a day.');

function auditEntryOf(action: AuditAction, { document, head }: StoredBulk, actor: Actor) {
  const what = { bulk_id: document.id, bulk_action: document.action, task_count: head.counts.waiting };
  return auditOf(actor, action, { on: {}, why: document.reason, what });
}
