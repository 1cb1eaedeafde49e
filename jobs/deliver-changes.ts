import type { JobOutcome, SubscriptionJob } from '../src/contracts/ops/jobs';
import { isCursorAfter, type ChangeView } from '../src/contracts/ops/changes';
import { readSubject, type ChangeSubject } from '../src/domain/ops/changes';
import {
  BEHIND_MAX,
  dueAtMs,
  givenUp,
  isHopeless,
  keepAnswer,
  leaveForLater,
  wantedTypes,
  type Progress,
  type Subscription,
} from '../src/domain/ops/subscriptions';
import { subscriptionGapTask, subscriptionPausedTask, type NewTask } from '../src/domain/ops/tasks';
import { startAge, type Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log/log';
import { messageOf, type StoredSubscription, type SubscriptionTools } from '../src/workflow/ops/subscriptions';
import type { Locks, OwnedLock } from '../src/workflow/ports';

export interface DeliverChangesTools extends SubscriptionTools {
  readonly locks: Locks;
  /** The tow or violation as the API shows it; null when there is none. */
  readonly record: (subject: ChangeSubject) => Promise<object | null>;
  readonly giveUpMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** A job gives way to others after this long. */
const TURN_MS = 5000;
/** Longer than a delivery, before each of which it is renewed if it is old. A killed process holds up others for so long. */
const LOCK_MS = 20_000;
const RENEWED_AFTER_MS = LOCK_MS / 4;
/** Changes of one step, subjects at a time, and changes in a row of a subject that is behind. */
const STEP_CHANGES = 100;
const SUBJECTS_AT_ONCE = 10;
const CATCH_UP_STEPS = 20;
/** When it is looked at again if no change wakes it. */
const LOOK_AGAIN_MS = 30_000;

/**
 * Sends the changes of a subscription in order. One process at a time works on it: the lock only avoids repetitions, since
 * each sends the changes of a subject in order, beginning with the first that was not stored as accepted.
 */
export async function deliverChanges(
  { subscription_id: id }: SubscriptionJob,
  tools: DeliverChangesTools,
  isStopping: () => boolean,
): Promise<JobOutcome> {
  for (;;) {
    // oxlint-disable-next-line eslint/no-await-in-loop
    const lock = await tools.locks.acquire(`subscription.${id}`, LOCK_MS);
    if (!lock) return { kind: 'done', what: 'another process sends' };
    let isTurnOver: boolean;
    try {
      // oxlint-disable-next-line eslint/no-await-in-loop
      isTurnOver = await takeTurn(id, lock, tools, isStopping);
    } finally {
      // oxlint-disable-next-line eslint/no-await-in-loop
      await lock.release();
    }
    if (isTurnOver)
      return isStopping() ? { kind: 'done', what: 'stopping' } : { kind: 'continue', what: 'more', ref: id };
    // A job that came while the lock was held found it taken.
    // oxlint-disable-next-line eslint/no-await-in-loop
    if (!(await hasMore(id, tools))) return { kind: 'done', what: 'all sent' };
  }
}

async function hasMore(id: string, { subscriptions, changes }: DeliverChangesTools): Promise<boolean> {
  const stored = await subscriptions.read(id);
  if (!stored || stored.progress.pausedBy !== null || stored.progress.openUntilMs !== null) return false;
  return (await changes.now()) !== stored.progress.cursor;
}

/** Steps until nothing is left to do now. True when the turn is over before. */
async function takeTurn(
  id: string,
  lock: OwnedLock,
  tools: DeliverChangesTools,
  isStopping: () => boolean,
): Promise<boolean> {
  const ageMs = startAge(tools.clock);
  for (;;) {
    // oxlint-disable-next-line eslint/no-await-in-loop
    const [stored, isOwned] = await Promise.all([tools.subscriptions.read(id), lock.renew()]);
    if (!stored || stored.progress.pausedBy !== null) return false;
    if (!isOwned) return true;
    // oxlint-disable-next-line eslint/no-await-in-loop
    if (!(await new Step(stored, lock, tools).take())) return false;
    if (ageMs() >= TURN_MS || isStopping()) return true;
  }
}

/** One step of a subscription: some changes of some subjects, and what has become of them in one commit. */
class Step {
  readonly #progress: Progress;
  readonly #tasks: NewTask[] = [];
  readonly #subscription: Subscription;
  #hasActed = false;
  /** Whether the circuit is open, and one change is tried. */
  readonly #isProbe: boolean;
  /** How long ago the lock was renewed, ms. */
  #lockAgeMs: () => number;

  constructor(
    private readonly stored: StoredSubscription,
    private readonly lock: OwnedLock,
    private readonly tools: DeliverChangesTools,
  ) {
    this.#progress = structuredClone(stored.progress);
    this.#subscription = stored.subscription;
    this.#isProbe = stored.progress.openUntilMs !== null;
    this.#lockAgeMs = startAge(tools.clock);
  }

  /** False when there was nothing to do. */
  async take(): Promise<boolean> {
    const { clock, giveUpMs, subscriptions } = this.tools;
    const { id, name } = this.#subscription;
    const progress = this.#progress;
    const nowMs = clock.nowMs();
    if (isHopeless(progress, giveUpMs, nowMs)) {
      progress.pausedBy = 'failure';
      this.#tasks.push(subscriptionPausedTask(id, name));
      this.#hasActed = true;
    } else if (progress.openUntilMs === null || progress.openUntilMs <= nowMs) {
      for (const subject of givenUp(progress, giveUpMs, nowMs)) this.#setAside(subject, progress.cursor);
      if (!this.#isProbe) await this.#catchUp(nowMs);
      await this.#goOn();
      // Nothing new: the subject that waits for longest shows whether the receiver works again.
      if (this.#isProbe && !this.#hasActed) await this.#catchUp(Infinity, 1);
    }
    const atMs = Math.min(dueAtMs(progress) ?? Infinity, clock.nowMs() + LOOK_AGAIN_MS);
    const isKept = await subscriptions.keep(id, this.stored.version, progress, { tasks: this.#tasks, atMs });
    return this.#hasActed && isKept;
  }

  /** Sends what waits of the subjects that are behind and due. */
  async #catchUp(dueBy: number, max = SUBJECTS_AT_ONCE): Promise<void> {
    const due = Object.entries(this.#progress.behind)
      .filter(([, { nextAtMs }]) => nextAtMs <= dueBy)
      .toSorted(([, one], [, other]) => one.nextAtMs - other.nextAtMs)
      .slice(0, max);
    await Promise.all(due.map(([subject]) => this.#catchUpWith(subject)));
  }

  async #catchUpWith(subject: string): Promise<void> {
    for (let count = 0; count < CATCH_UP_STEPS; count += 1) {
      const behind = this.#progress.behind[subject];
      if (!behind) return;
      this.#hasActed = true;
      // oxlint-disable-next-line eslint/no-await-in-loop
      const { isExpired, items, nextCursor } = await this.tools.changes.read(behind.after, {
        types: wantedTypes(this.#subscription),
        subject: readSubject(subject),
        limit: 1,
      });
      if (isExpired) return this.#setAside(subject, this.#progress.cursor);
      const [change] = items;
      const reached = change?.cursor ?? nextCursor;
      if (isCursorAfter(reached, this.#progress.cursor) || (!change && reached === behind.after)) {
        delete this.#progress.behind[subject];
        return;
      }
      if (change) {
        // oxlint-disable-next-line eslint/no-await-in-loop
        if (!(await this.#send(subject, behind.after, change))) return;
        this.#progress.behind[subject] = { ...behind, attempts: 0, sinceMs: this.tools.clock.nowMs(), after: reached };
      } else {
        this.#progress.behind[subject] = { ...behind, after: reached };
      }
      if (reached === this.#progress.cursor) {
        delete this.#progress.behind[subject];
        return;
      }
    }
  }

  /** Sends the next changes of all subjects that are not behind. */
  async #goOn(): Promise<void> {
    const progress = this.#progress;
    if (Object.keys(progress.behind).length >= BEHIND_MAX) return;
    const { cursor } = progress;
    const page = await this.tools.changes.read(cursor, {
      types: wantedTypes(this.#subscription),
      limit: this.#isProbe ? 1 : STEP_CHANGES,
    });
    if (page.isExpired) {
      for (const subject of Object.keys(progress.behind)) delete progress.behind[subject];
      this.#tasks.push(subscriptionGapTask(this.#subscription, 'all', { from: cursor, to: page.nextCursor }));
    } else {
      const bySubject = new Map<string, { readonly after: string; readonly change: ChangeView }[]>();
      page.items.forEach((change, at) => {
        const name = nameOf(change);
        if (progress.behind[name]) return;
        const of = bySubject.get(name) ?? [];
        of.push({ after: page.items[at - 1]?.cursor ?? cursor, change });
        bySubject.set(name, of);
      });
      const groups = [...bySubject];
      const next = async (): Promise<void> => {
        for (let group = groups.shift(); group; group = groups.shift()) {
          const [subject, waiting] = group;
          const [first] = waiting;
          if (first && !this.#isProbe && progress.openUntilMs !== null) {
            leaveForLater(progress, subject, first.after, this.tools.clock.nowMs());
            continue;
          }
          for (const { after, change } of waiting) {
            // oxlint-disable-next-line eslint/no-await-in-loop
            if (!(await this.#send(subject, after, change))) break;
          }
        }
      };
      await Promise.all(Array.from({ length: SUBJECTS_AT_ONCE }, next));
    }
    if (page.nextCursor !== cursor) this.#hasActed = true;
    progress.cursor = page.nextCursor;
  }

  async #holdsLock(): Promise<boolean> {
    if (this.#lockAgeMs() < RENEWED_AFTER_MS) return this.lock.isSurelyOwned();
    this.#lockAgeMs = startAge(this.tools.clock);
    return this.lock.renew();
  }

  /** Whether the change was accepted. */
  async #send(subject: string, after: string, change: ChangeView): Promise<boolean> {
    const { clock, log, sendChange, record } = this.tools;
    if (!(await this.#holdsLock())) throw new Error('the lock of the subscription was lost');
    this.#hasActed = true;
    const isWithRecord = this.#subscription.include === 'record' && change.subject !== null;
    const message = messageOf(change, isWithRecord && change.subject ? await record(change.subject) : null);
    const answer = await sendChange(this.#subscription, message);
    const at = { nowMs: clock.nowMs(), jitter: clock.random(), isProbe: this.#isProbe };
    keepAnswer(this.#progress, { subject, after }, answer, at);
    const { isAccepted, httpStatus } = answer;
    log[isAccepted ? 'debug' : 'warn']('subscription.sent', {
      subscription_id: this.#subscription.id,
      type: change.type,
      subject,
      http_status: httpStatus,
      problem: answer.isAccepted ? null : answer.problem,
    });
    return isAccepted;
  }

  /** Leaves out what a subject has not got, with a task that names it. */
  #setAside(subject: string, to: string): void {
    const from = this.#progress.behind[subject]?.after ?? to;
    delete this.#progress.behind[subject];
    this.#tasks.push(subscriptionGapTask(this.#subscription, subject, { from, to }));
    this.#hasActed = true;
  }
}

function nameOf({ subject }: ChangeView): string {
  return subject === null ? '' : `${subject.kind}:${subject.id}`;
}
