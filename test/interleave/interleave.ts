import * as fc from 'fast-check';
import { KEYS, towKey } from '../../src/store/keys';
import { walk } from '../support/conservation';
import type { SharedRedis } from '../support/redis';
import { changeEntry, endLease } from '../support/stored-records';
import { openStores, START, type Stores } from '../support/stores';
import { apply, needsWorker, newModel, type HotTowModel } from './model';
import type { Answer } from './operations';
import { startProcess, type Process } from './processes';
import { RARE_STORIES, story, tasksOf, type Round, type RoundTask } from './story';

/** How often each kind of answer was seen. */
export type Seen = ReadonlyMap<string, number>;

/**
 * Plays the rare stories, then random ones, of one tow in two processes: the steps of a round run at the same time. Each round must have ended
 * as the model ends when it takes the same steps in one order or another. Rejects with the seed of a story that did not.
 */
export async function interleave(redis: SharedRedis, numRuns: number): Promise<Seen> {
  const stores = await openStores(redis.url);
  const processes = await Promise.all([startProcess(redis.url), startProcess(redis.url)]);
  const seen = new Map<string, number>();
  let stories = 0;
  try {
    await fc.assert(
      fc.asyncProperty(story, async (rounds) => {
        stories += 1;
        await redis.ask('FLUSHALL');
        await play(rounds, `T${stories}`, { stores, processes, seen });
      }),
      // Another run of the same steps may interleave in another way, so a smaller story proves nothing.
      { numRuns, examples: RARE_STORIES.map((story): [Round[]] => [story]), endOnFailure: true },
    );
  } finally {
    await Promise.all(processes.map((process) => process.stop()));
    stores.close();
  }
  return seen;
}

interface World {
  readonly stores: Stores;
  readonly processes: readonly Process[];
  readonly seen: Map<string, number>;
}

async function play(rounds: readonly Round[], ref: string, { stores, processes, seen }: World): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
  // What the model keeps and nothing shows yet, such as which of two came first, may be one or the other.
  let models: readonly HotTowModel[] = [newModel()];
  const webhooks: string[] = [];
  const attempts: { process: 0 | 1; attemptId: string }[] = [];
  for (const round of rounds) {
    const received: string[] = [];
    const newWebhookId = () => {
      const id = `${ref}-webhook-${webhooks.length + received.length + 1}`;
      received.push(id);
      return id;
    };
    const reportIds = (models[0]?.reports ?? []).map(({ id }) => id);
    const tasks = tasksOf(round, { ref, reportIds, webhooks, attempts, newWebhookId });
    const done = await Promise.all(
      tasks.map(async (task) => {
        const answer = await processes[task.process]?.run(task.operation);
        if (!answer) throw new Error('there are two processes');
        return { task, answer };
      }),
    );
    webhooks.push(...received);
    for (const { task, answer } of done) {
      count(seen, task, answer);
      const attemptId = answer.next?.attemptId;
      if (attemptId) attempts.push({ process: task.process, attemptId });
    }
    models = explained(models, done, await stateOf(stores, ref));
    await passTime(models, { stores, ref, endsLease: round.endsLease });
  }
  expect((await walk(stores.redis)).lostNames).toEqual([]);
}

interface Done {
  readonly task: RoundTask;
  readonly answer: Answer;
}

/** The models after every order of operations that explains what was answered and what is stored; at least one. */
function explained(models: readonly HotTowModel[], done: readonly Done[], stored: Stored): HotTowModel[] {
  const expected = JSON.stringify([done.map(({ answer }) => answer), stored]);
  const found = new Map<string, HotTowModel>();
  const others: string[] = [];
  for (const before of models) {
    for (const order of permutations(done)) {
      const model = structuredClone(before);
      const answers = new Map(order.map(({ task, answer }) => [task, apply(model, task.operation, answer)]));
      const shown = JSON.stringify([done.map(({ task }) => answers.get(task)), shownOf(model, stored)]);
      if (shown === expected) found.set(JSON.stringify(model), model);
      else others.push(shown);
    }
  }
  if (found.size > 0) return [...found.values()];
  const operations = done.map(({ task }) => JSON.stringify(task));
  const parts = { before: JSON.stringify(models), done: operations.join('\n'), is: expected, not: others.join('\n') };
  throw new Error(
    Object.entries(parts)
      .map(([name, text]) => `${name}\n${text}`)
      .join('\n'),
  );
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map((others) => [first, ...others]));
}

/** What is stored of a tow, as far as the model knows it. */
interface Stored {
  readonly state: string;
  readonly webhooks: number;
  readonly reports: readonly object[];
  readonly isDue: boolean;
}

async function stateOf(stores: Stores, ref: string): Promise<Stored> {
  const [{ tow, reports }, dueAtMs] = await Promise.all([stores.read(ref), stores.dueAt(ref)]);
  return {
    state: tow.state,
    webhooks: tow.invoiceWebhooks.length,
    reports: reports.map(({ id, state, attemptId, revision, attempts }) => ({
      id,
      state,
      inFlight: attemptId !== null,
      revision,
      attempts,
    })),
    isDue: dueAtMs !== null,
  };
}

/** What needs no worker may be on the schedule still: a worker looks and takes it away. */
function shownOf(model: HotTowModel, { isDue }: Stored): Stored {
  return {
    state: model.state,
    webhooks: model.attached.length,
    reports: model.reports.map(({ id, state, attemptId, revision, sent }) => ({
      id,
      state,
      inFlight: attemptId !== null,
      revision,
      attempts: sent,
    })),
    isDue: needsWorker(model) || isDue,
  };
}

/** Ends the wait of a report whose worker was lost more than once and the lease if it is over in the story. */
async function passTime(
  models: readonly HotTowModel[],
  { stores, ref, endsLease }: { stores: Stores; ref: string; endsLease: boolean },
): Promise<void> {
  const waiting = models.flatMap(({ reports }) => reports.filter(({ waits }) => waits));
  for (const seq of new Set(waiting.map(({ id }) => Number(id.split('-')[1])))) {
    await changeEntry(stores.redis, { ref }, seq, { nextAtMs: 1 });
  }
  for (const report of waiting) report.waits = false;
  const leases = models.flatMap(({ lease }) => lease ?? []);
  if (endsLease && leases.length > 0) {
    await endLease(stores.redis, towKey(ref));
    for (const lease of leases) lease.isOver = true;
  }
  // What has waited for a moment is due once it has passed.
  await stores.redis.zadd(KEYS.dueTows, 'XX', 1, ref);
}

function count(seen: Map<string, number>, { operation }: RoundTask, { kind, next }: Answer): void {
  const names = [
    `${operation.do} ${kind}`,
    ...(operation.do === 'settle' && next ? [`settle with claim ${next.kind}`] : []),
  ];
  for (const name of names) seen.set(name, (seen.get(name) ?? 0) + 1);
}
