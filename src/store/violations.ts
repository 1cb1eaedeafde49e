import type { Redis } from 'ioredis';
import type { ViolationRecord } from '../contracts/violations';
import { decideOn } from '../domain/stored-violation';
import { metadataIdOf } from '../domain/violation';
import { addReference } from '../domain/violation-names';
import type { Page } from '../workflow/ports';
import type { ViolationFilter, ViolationStore } from '../workflow/violation-port';
import { KEYS, violationKey, violationsInStateKey } from './keys';
import { search } from './list-tows';
import { recordsOf } from './records';
import { newestFirst } from './rows';
import type { Transaction } from './transaction';
import { decodeViolation, newStoredViolation } from './violation-fields';
import { entryOf, violationRecordOf } from './violation-view';

/** The violations in Redis: decisions on records, each committed if its version is the same. */
export function createViolationStore(redis: Redis): ViolationStore {
  const records = recordsOf(redis);
  const readById = async (id: string) => {
    const stored = decodeViolation(await redis.hgetall(violationKey(id)));
    return stored && violationRecordOf(stored);
  };
  const readNamed = async (name: string, index: string) => {
    const id = await redis.hget(index, name);
    return id === null ? null : readById(id);
  };
  return {
    read: (name) => readNamed(name, KEYS.violationAliases),

    list: (filter) => listViolations(redis, filter, readById),

    async create(violation, _options, { audit, remember }) {
      const { id } = violation;
      const alias = metadataIdOf(violation);
      for (;;) {
        const reply = await records.transact(`violation ${id}`, async (transaction) => {
          const known = remember && (await transaction.fingerprintOf(remember.scope));
          if (known) return { kind: 'remembered', fingerprint: known } as const;
          const refusal = await refusalOfAlias(redis, transaction, { id, alias });
          if (refusal) return { kind: refusal } as const;
          transaction.create(newStoredViolation(violation, transaction.nowMs));
          transaction.effect(['HSET', KEYS.violationAliases, alias, id, id, id]);
          transaction.audit(audit);
          transaction.remember(remember);
          return { kind: 'saved' } as const;
        });
        if (reply.kind === 'done') return reply.value;
        if (reply.check === 'remembered') return { kind: 'remembered', fingerprint: reply.value };
      }
    },

    async decide(before, decision, remember) {
      const { id } = before.violation;
      const reply = await records.transact(`violation ${id}`, async (transaction) => {
        const known = remember && (await transaction.fingerprintOf(remember.scope));
        if (known) return { kind: 'remembered', fingerprint: known } as const;
        const record = await transaction.violation(id);
        if (!record || violationRecordOf(record).version !== before.version) return { kind: 'stale' } as const;
        const reference = decision.action === 'accept' ? decision.reference : null;
        if (reference !== null) {
          const owner = await transaction.violationNamed(reference);
          if (owner && owner.id !== id) return { kind: 'reference_taken' } as const;
        }
        decideOn(record, decision, transaction.nowMs);
        if (reference !== null) {
          addReference(record, reference, { isMain: true });
          transaction.nameViolation(reference, id);
        }
        transaction.audit(decision.audit);
        transaction.remember(remember);
        return { kind: 'saved' } as const;
      });
      if (reply.kind === 'done') return reply.value;
      return reply.check === 'remembered' ? { kind: 'remembered', fingerprint: reply.value } : { kind: 'stale' };
    },
  };
}

/** Why the id in its metadata may not be used; null when it may. A violation that was waived unsent leaves its id to the next. */
async function refusalOfAlias(
  redis: Redis,
  transaction: Transaction,
  { id, alias }: { id: string; alias: string },
): Promise<'alias_taken' | 'alias_of_waived' | null> {
  const [owner, named] = await redis.hmget(KEYS.violationAliases, alias, id);
  for (const [field, value] of [[alias, owner ?? ''] as const, [id, named ?? ''] as const]) {
    transaction.check({ key: KEYS.violationAliases, field, value, name: 'alias' });
  }
  if (owner !== null && owner !== undefined) {
    const record = await transaction.violation(owner);
    const entry = record && entryOf(record);
    if (entry?.state !== 'waived' || owner === alias) return 'alias_taken';
    if (entry.possibleEffects > 0) return 'alias_of_waived';
  }
  return named === null || named === undefined ? null : 'alias_taken';
}

/** A page of violations, newest first; with a search, by the words it found them under. */
async function listViolations(
  redis: Redis,
  filter: ViolationFilter,
  read: (id: string) => Promise<ViolationRecord | null>,
): Promise<Page<ViolationRecord>> {
  const index = filter.state ? violationsInStateKey(filter.state) : KEYS.indexViolations;
  const { refs: ids, nextCursor } = filter.search
    ? await search(redis, KEYS.searchViolations, { ...filter, words: filter.search })
    : await newestFirst(redis, index, filter);
  const found = await Promise.all(ids.map(read));
  const isWanted = (record: ViolationRecord) => filter.state === null || record.state === filter.state;
  return { items: found.filter((record) => record !== null).filter(isWanted), nextCursor };
}
