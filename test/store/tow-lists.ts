import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import type { ReportCommand } from '../../src/domain/outbox/decide-report';
import { systemClock } from '../../src/platform/clock';
import type { FactCommand } from '../../src/domain/tow/fact-command';
import { rivalRequestTask } from '../../src/domain/ops/tasks';
import { updateDispatch } from '../../src/workflow/tow/update-dispatch';
import { ALL_TOWS, type TowFilter } from '../../src/workflow/list-port';
import { isSettled } from '../../src/domain/outbox/outbox';
import { createRetentionStore } from '../../src/store/ops/retention';
import { refusedWith } from '../support/exchanges';
import { reportIn } from '../support/outboxes';
import { closeTask, openTask } from '../../src/domain/outbox/outbox-record';
import { ACCEPTED, mustClaim, result, START, towRequest, type Stores } from '../support/stores';

/** Tows as the tests of lists need them: requested when the test says, and brought to where it wants them. */

const ACTOR = { id: 'k1', name: 'tester', role: 'ops' } as const;
const MINUTE_MS = 60_000;

export const minutesAgo = (minutes: number): string =>
  new Date(systemClock.nowMs() - minutes * MINUTE_MS).toISOString();

export const startedAgo = (minutes: number): FactCommand => ({ ...START, occurredAt: minutesAgo(minutes) });

/** A tow whose delivery was received so many minutes ago. */
export async function requestAgo(stores: Stores, ref: string, minutes: number): Promise<void> {
  const id = `request-${ref}`;
  await stores.accept('tow_request', towRequest(ref), id);
  await stores.redis.hset(
    `{towhook-main}:delivery:${id}`,
    'receivedAtMs',
    Math.round(systemClock.nowMs() - minutes * MINUTE_MS),
  );
  await stores.process(id);
}

export async function assign(stores: Stores, ref: string, crew: string | null): Promise<void> {
  const request = { ref, command: { kind: 'assign', crew }, actor: ACTOR } as const;
  await updateDispatch(stores.progress, request);
}

/** The head of its outbox is accepted by the service. */
export async function acceptHead(stores: Stores, ref: string): Promise<void> {
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
}

/** The head of its outbox is refused by the service, and a person is asked. */
export async function refuseHead(stores: Stores, ref: string): Promise<void> {
  const claimed = await mustClaim(stores.outbox, ref);
  const task = refusedTask({
    ...reportIn(claimed),
    httpStatus: 400,
    message: 'no',
    hint: null,
  });
  const verdict = { next: 'refused', hint: null } as const;
  await stores.outbox.settle(claimed, result(verdict, { exchange: refusedWith(400, 'no'), task }));
}

/** A person decides about the head of its outbox; fails where that is not allowed. */
export async function decideHead(stores: Stores, ref: string, command: ReportCommand): Promise<void> {
  const head = (await stores.read(ref)).reports.find(({ state }) => !isSettled(state));
  if (!head) throw new Error('nothing is owed');
  await stores.decide(ref, head.id, command);
}

/** It leaves for the archive; fails where it may not. */
export async function retire({ redis }: Stores, ref: string): Promise<void> {
  const retention = createRetentionStore(redis);
  const removal = await retention.remove('tow', ref, await retention.versionOf('tow', ref));
  if (removal !== 'removed') throw new Error(removal);
}

/** A task that only informs is opened, or closed, on a tow. */
export async function inform(stores: Stores, ref: string, change: 'open' | 'close'): Promise<void> {
  await stores.change(ref, (draft, nowMs) => {
    if (change === 'open') openTask(draft, rivalRequestTask, nowMs);
    else closeTask(draft, rivalRequestTask.subject);
  });
}

/** The references that a filter finds, page by page. */
export async function found(
  { tows }: Pick<Stores, 'tows'>,
  filter: Partial<TowFilter> = {},
  limit: number = 50,
): Promise<string[]> {
  const refs: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof tows.list>> = await tows.list({ ...ALL_TOWS, cursor, limit, ...filter });
    refs.push(...page.items.map(({ tow }) => tow.towingReferenceId));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return refs;
}
