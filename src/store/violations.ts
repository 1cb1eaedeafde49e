import type { Redis } from 'ioredis';
import type { ViolationRecord } from '../contracts/violations';
import { decideEntry } from '../domain/decide-entry';
import { isEntrySettled } from '../domain/entry';
import type { StoredViolation } from '../domain/outbox-record';
import { metadataIdOf } from '../domain/violation';
import { addReference, dropReference, mayHaveBeenSent, noteTow } from '../domain/violation-names';
import type { Page } from '../workflow/ports';
import type { JoiningTow, ViolationDecision, ViolationFilter, ViolationStore } from '../workflow/violation-port';
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

    async find({ reference, metadataId }) {
      const byReference = await readNamed(reference, KEYS.violationReferences);
      if (byReference || metadataId === null) return byReference;
      return readNamed(metadataId, KEYS.violationAliases);
    },

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
          const owner = await ownerOf(redis, transaction, reference);
          if (owner && owner.id !== id) return { kind: 'reference_taken' } as const;
        }
        decide(record, decision, transaction.nowMs);
        if (reference !== null) {
          addReference(record, reference, { isMain: true });
          transaction.effect(['HSET', KEYS.violationReferences, reference, id]);
        }
        transaction.audit(decision.audit);
        transaction.remember(remember);
        return { kind: 'saved' } as const;
      });
      if (reply.kind === 'done') return reply.value;
      return reply.check === 'remembered' ? { kind: 'remembered', fingerprint: reply.value } : { kind: 'stale' };
    },

    async joined(id, { towingReference, reference }) {
      for (;;) {
        const reply = await records.transact(`violation ${id}`, async (transaction) => {
          const record = await transaction.violation(id);
          if (!record) return { kind: 'gone' } as const;
          const owner = await ownerOf(redis, transaction, reference);
          if (owner && owner.id !== id) return { kind: 'taken' } as const;
          const entry = entryOf(record);
          // A name that is not known yet was found by the id that the service echoes.
          const isNew = !record.references.includes(reference);
          const mayBeThere = mayHaveBeenSent(entry);
          // A name from before it was first sent proves nothing of what was sent since.
          const isProof = mayBeThere && (isNew || record.toldReferences.includes(reference));
          const proves = isProof && !isEntrySettled(entry);
          addReference(record, reference, { isTold: isNew && mayBeThere, isMain: proves });
          transaction.effect(['HSET', KEYS.violationReferences, reference, id]);
          noteTow(record, entry, { towingReference, isNewReference: isNew, proves }, transaction.nowMs);
          return { kind: 'joined', shownAs: record.reference ?? '' } as const;
        });
        if (reply.kind === 'done') return reply.value;
      }
    },

    async linked(id, tow, before) {
      for (;;) {
        const reply = await records.transact(`violation ${id}`, (transaction) =>
          link(redis, transaction, { id, tow, before }),
        );
        if (reply.kind === 'done') return reply.value;
      }
    },
  };
}

function decide(record: StoredViolation, decision: ViolationDecision, nowMs: number): void {
  const entry = entryOf(record);
  if (decision.action === 'correct') {
    record.violation = decision.violation;
    // Another plate or zone is another question.
    record.ticket = null;
    record.ticketOverruled = false;
  }
  decideEntry(record, entry, decision, nowMs);
}

async function link(
  redis: Redis,
  transaction: Transaction,
  { id, tow: { towingReference, reference }, before }: { id: string; tow: JoiningTow; before: string | null },
): Promise<'linked' | 'gone'> {
  const record = await transaction.violation(id);
  if (!record) return 'gone';
  if (before !== null && before !== id) {
    const former = await transaction.violation(before);
    if (former) former.tows = former.tows.filter((known) => known !== towingReference);
  }
  const owner = await ownerOf(redis, transaction, reference);
  const other = owner && owner.id !== id ? owner : null;
  let [isNewReference, proves] = [false, false];
  const entry = entryOf(record);
  if (!other || dropReference(other, reference)) {
    const isNew = !record.references.includes(reference);
    proves = !other && isNew && mayHaveBeenSent(entry) && !isEntrySettled(entry);
    isNewReference = addReference(record, reference, { isMain: proves });
    transaction.effect(['HSET', KEYS.violationReferences, reference, id]);
  }
  noteTow(record, entry, { towingReference, isNewReference, proves }, transaction.nowMs);
  return 'linked';
}

/** The violation that has a name; null when none has. Should that change meanwhile, the check `reference` fails. */
export async function ownerOf(
  redis: Redis,
  transaction: Transaction,
  reference: string,
): Promise<StoredViolation | null> {
  const owner = await redis.hget(KEYS.violationReferences, reference);
  transaction.check({ key: KEYS.violationReferences, field: reference, value: owner ?? '', name: 'reference' });
  return owner === null ? null : transaction.violation(owner);
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
