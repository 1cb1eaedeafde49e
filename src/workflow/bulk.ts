import { auditOf, type Actor, type AuditAction } from '../domain/audit';
import { conflict, forbidden, unknown, type Decision } from '../domain/refusal';
import { roleAllows } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { errorFacts, type Log } from '../platform/log';
import { within } from '../platform/within';
import { roleFor } from './bulk-call';
import { whatBecameOf, type DecideTools } from './bulk-item';
import { LANE_SETTINGS, runLanes, type LaneSettings } from './bulk-lanes';
import type { BulkRun, BulkRunWithItems, BulkStore, HeldRun, TakingMode } from './bulk-port';
import { previewOf } from './bulk-preview';
import type { SignIn } from './operator-port';
import type { TaskStore } from './ports';

/**
 * Deciding on many tasks at once: what is decided is exactly what was previewed and is still asked, each task once,
 * with the rights of whoever lets it run, and each with a result of its own.
 */
export interface Bulk {
  /** Chooses and freezes tasks (`asked`: bulkPreviewBody), and says of each whether it can be decided. Changes nothing else. */
  preview(asked: unknown, actor: Actor): Promise<Decision<{ run: BulkRunWithItems }>>;
  /** Lets a previewed run begin, here and in the background. Only whoever previewed it may, or ops. */
  start(runId: string, person: BulkPerson): Promise<Decision<object>>;
  /** Lets an interrupted run go on here: what waits is decided, what was decided never again. Who may is as in `start`. */
  resume(runId: string, person: BulkPerson): Promise<Decision<object>>;
  /** Ends a run before its next task, wherever it runs. Whoever may decide on tasks may: stopping is always safe. */
  abort(runId: string, actor: Actor): Promise<Decision<object>>;
  /** Null when there is no such run, or it is long over. */
  read(runId: string): Promise<BulkRunWithItems | null>;
  /** The newest runs, whoever made them and wherever they run. */
  recent(limit: number): Promise<readonly BulkRun[]>;
  /** Ends in good order: tasks that have begun are finished and written down, the rest can be resumed anywhere. */
  close(): Promise<void>;
}

/** Who lets a run run. The hash of the key is held in memory alone: the run stops once the key is revoked. */
export interface BulkPerson {
  readonly actor: Actor;
  readonly keyHash: string;
}

export interface BulkOptions extends Omit<DecideTools, 'tasks'> {
  readonly store: BulkStore;
  readonly tasks: Pick<TaskStore, 'read' | 'readMany' | 'ids'>;
  readonly holderOf: SignIn['holderOf'];
  readonly clock: Clock;
  readonly log: Log;
  /** How long a run stays with a process that says nothing more. */
  readonly leaseMs?: number;
  readonly lanes?: Partial<LaneSettings>;
  /** How long closing waits for tasks that have begun. */
  readonly closeMs?: number;
}

const LEASE_MS = 10_000;
const CLOSE_MS = 5000;

export function createBulk(options: BulkOptions): Bulk {
  const { store, clock, log, leaseMs = LEASE_MS, closeMs = CLOSE_MS } = options;
  const settings = { ...LANE_SETTINGS, ...options.lanes };
  const closing = new AbortController();
  const running = new Set<Promise<void>>();

  /** Writes down what became of tasks that had begun when an aborted run lost its process. */
  const settleRest = async (run: BulkRunWithItems): Promise<void> => {
    const taken = await store.take(run.id, 'settle', { runBy: run.runBy ?? run.by, leaseMs, audit: null });
    if (taken.kind !== 'taken') return;
    const rest = run.items.filter(({ outcome }) => outcome === 'waiting');
    await Promise.all(
      rest.map(async (target) =>
        taken.held.note(target.position, await whatBecameOf(options, { document: run, target })),
      ),
    );
    await taken.held.letGo('process_lost');
  };

  const read = async (runId: string): Promise<BulkRunWithItems | null> => {
    const run = await store.read(runId);
    if (run?.state !== 'aborted' || run.counts.waiting === 0) return run;
    await settleRest(run);
    return store.read(runId);
  };

  const carryOut = async (run: BulkRunWithItems, held: HeldRun, { actor, keyHash }: BulkPerson): Promise<void> => {
    const holder = async () => {
      const now = await options.holderOf(keyHash);
      return now?.id === actor.id ? now : null;
    };
    const tools = { ...options, holder };
    const why = await runLanes(tools, settings, { held, document: run, signal: closing.signal });
    const state = await held.letGo(why);
    log.info('bulk.ended', { bulk_id: run.id, state, ...(state === 'interrupted' ? { why } : {}) });
    if (state === 'aborted') await read(run.id);
  };

  const takeAndRun = async (mode: 'start' | 'resume', runId: string, person: BulkPerson): Promise<Decision<object>> => {
    if (closing.signal.aborted) return conflict('console_stopping', 'This console is being stopped; try again.');
    const run = await store.read(runId);
    if (!run) return noSuchRun;
    const { actor } = person;
    if (actor.id !== run.by.id && !roleAllows(actor.role, 'ops')) {
      return forbidden('Only whoever previewed it, or ops, may let it run.');
    }
    const audit = entryOf(MODE_ACTIONS[mode], run, actor);
    const taken = await store.take(runId, mode, { runBy: actor, leaseMs, audit });
    switch (taken.kind) {
      case 'taken': {
        const work = carryOut(run, taken.held, person).catch((error: unknown) => {
          // Its lease runs out, and it shows as interrupted.
          log.warn('bulk.lost', { bulk_id: runId, ...errorFacts(error), stack: undefined });
        });
        running.add(work);
        void work.finally(() => running.delete(work));
        return { ok: true };
      }
      case 'not_now':
        return conflict(`bulk_${taken.state}`, `The run is ${taken.state}.`);
      case 'nothing_waits':
        return conflict('nothing_waits', 'None of its tasks can be decided so.');
      case 'unknown':
        return noSuchRun;
    }
  };

  return {
    async preview(asked, actor) {
      const id = clock.id();
      const found = await previewOf(options, { id, asked, actor });
      if (!found.ok) return found;
      await store.create(found.preview.document, found.preview.chosen);
      const run = await store.read(id);
      if (!run) throw new Error('the run that was just previewed is gone');
      return { ok: true, run };
    },

    start: (runId, person) => takeAndRun('start', runId, person),
    resume: (runId, person) => takeAndRun('resume', runId, person),

    async abort(runId, actor) {
      const run = await store.read(runId);
      if (!run) return noSuchRun;
      const role = roleFor(run.action);
      if (!roleAllows(actor.role, role)) return forbidden(`This needs the role ${role}.`);
      const aborted = await store.abort(runId, entryOf('bulk.aborted', run, actor));
      switch (aborted.kind) {
        case 'aborted':
          await read(runId);
          return { ok: true };
        case 'not_now':
          return conflict(`bulk_${aborted.state}`, `The run is ${aborted.state}.`);
        case 'unknown':
          return noSuchRun;
      }
    },

    read,
    recent: (limit) => store.recent(limit),

    async close() {
      closing.abort();
      await within(closeMs, Promise.all(running));
    },
  };
}

const MODE_ACTIONS = { start: 'bulk.started', resume: 'bulk.resumed' } as const satisfies Record<
  Exclude<TakingMode, 'settle'>,
  AuditAction
>;

const noSuchRun = unknown('bulk_not_found', 'There is no such run; a preview is kept for an hour, a run for a day.');

function entryOf(action: AuditAction, run: BulkRun, actor: Actor) {
  const what = { bulk_id: run.id, bulk_action: run.action, task_count: run.counts.waiting };
  return auditOf(actor, action, { on: {}, why: run.reason, what });
}
