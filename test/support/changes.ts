import type { Redis } from 'ioredis';
import { cursorOf, readChangeCursor, type ChangeView } from '../../src/contracts/ops/changes';
import { changeEffect, createChangeReader } from '../../src/store/ops/changes';
import { recordsOf } from '../../src/store/outbox/records';

/** All changes in Redis, oldest first; of one record, if it is named. */
export async function changesIn(redis: Redis, id?: string): Promise<ChangeView[]> {
  const reader = createChangeReader(redis);
  const { epoch = '' } = readChangeCursor(await reader.now()) ?? {};
  const items: ChangeView[] = [];
  for (let after = cursorOf(epoch, '0-0'); ;) {
    const page = await reader.read(after, { limit: 1000 });
    items.push(...page.items.filter(({ subject }) => id === undefined || subject?.id === id));
    if (page.items.length === 0) return items;
    after = page.nextCursor;
  }
}

/** The types of all changes; of one record, if it is named. */
export async function changeTypesIn(redis: Redis, id?: string): Promise<string[]> {
  return (await changesIn(redis, id)).map(({ type }) => type);
}

/** Adds a change of a tow that there need not be. */
export async function addChange(redis: Redis, id: string, sequence = 1): Promise<void> {
  const change = { type: 'tow.changed', subject: { kind: 'tow', id }, sequence, data: {} } as const;
  await recordsOf(redis).commit({ records: [], effects: [changeEffect(change)] });
}
