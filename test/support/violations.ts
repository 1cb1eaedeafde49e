import { seenViolation } from './seen-records';
import type { ViolationCommand } from '../../src/domain/violation/decide-violation';
import type { Verdict } from '../../src/domain/service/policy';
import { matchTow, type MatchedTow } from '../../src/domain/violation/stored-violation';
import type { Violation } from '../../src/domain/violation/violation';
import type { JsonObject, ViolationApi } from '../../src/domain/vocabulary';
import { systemClock } from '../../src/platform/clock';
import type { ClaimSettings } from '../../src/store/outbox/claims';
import { createViolationOutbox } from '../../src/store/outbox/outbox';
import type { AttemptResult } from '../../src/domain/outbox/attempt';
import type { ClaimedViolation, ViolationClaim, ViolationOutbox } from './outboxes';
import { decideViolation } from '../../src/workflow/outbox/decide';
import { linkViolation } from '../../src/workflow/violation/link-violation';
import { reportViolation } from '../../src/workflow/violation/report-violation';
import type { Upload } from '../../src/workflow/ops/spool-port';
import { orderKeyOf, type IdempotencyRecord } from '../../src/workflow/transaction-port';
import { ACCEPTED, GRACE_MS, LEASE_MS, result, TESTER, type Stores } from './stores';

/** A violation with an id in its metadata, by default. */
export function violationOf(id: string, also: Partial<Violation> & { metadata?: JsonObject } = {}): Violation {
  const { metadata = { id: `own-${id}` }, ...more } = also;
  const api: ViolationApi = 'reference';
  return {
    id,
    api,
    form: {
      latitude: 24.7136123456789,
      longitude: 46.6753,
      location: 'شارع العليا "5" \\ \u{1f697}',
      plateNumber: 'أ ب ح ١٢٣٤',
      plateType: 'PRIVATE',
      zoneId: '7f6f3f2e-58f6-4a1a-9c0c-6c2d2a3b4c5d',
      violationType: 'WRONG_PARKING',
      metadata,
    },
    metadataText: JSON.stringify(metadata),
    images: [{ file: '1.jpg', name: 'front.jpg', contentType: 'image/jpeg', sizeBytes: 3, sha256: 'abc' }],
    warnings: [],
    createdAt: '2026-01-01T00:00:00.000Z',
    by: 'tester',
    ...more,
  };
}

/** A spool without a disk. */
const NO_UPLOAD: Upload = {
  write: () => Promise.reject(new Error('there is no disk')),
  keep: () => Promise.resolve(),
  discard: () => Promise.resolve(),
  takeBack: () => Promise.resolve(),
};

/** Reports violations one after another. */
export async function reportViolations(stores: Pick<Stores, 'records'>, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await report(stores, violationOf(id));
}

/** Reports one violation; returns `saved`, or the refusal. */
export async function report(
  { records }: Pick<Stores, 'records'>,
  violation: Violation,
  idempotency?: IdempotencyRecord,
): Promise<string> {
  const request = { violation, upload: NO_UPLOAD, actor: TESTER, idempotency };
  const effect = await reportViolation({ records }, request);
  switch (effect.kind) {
    case 'done':
      return 'saved';
    case 'repeated':
      return effect.kind;
    case 'refused':
      return effect.refusal.message.includes('waived') ? 'alias_of_waived' : 'alias_taken';
  }
}

/** Decides on a violation; returns `saved`, or the code of the refusal. */
export async function decide(
  { records }: Pick<Stores, 'records'>,
  id: string,
  command: ViolationCommand,
  idempotency?: IdempotencyRecord,
): Promise<string> {
  const tools = { records, clock: systemClock };
  const effect = await decideViolation(tools, { id, command, actor: TESTER, idempotency });
  switch (effect.kind) {
    case 'done':
      return 'saved';
    case 'repeated':
      return effect.kind;
    case 'refused':
      return effect.refusal.code;
  }
}

/** Short leases and proof times; by default nothing is given up, counted or checked. */
export function openOutbox(stores: Stores, also: Partial<ClaimSettings> = {}): ViolationOutbox {
  return createViolationOutbox(stores.redis, systemClock, {
    leaseMs: LEASE_MS,
    graceMs: GRACE_MS,
    giveUpAfterMs: 3_600_000,
    rateLimit: { limit: 0, windowMs: 60_000 },
    checksTicket: false,
    ...also,
  });
}

/** The granted claim; fails otherwise. */
export async function mustClaimViolation(outbox: ViolationOutbox, id: string): Promise<ClaimedViolation> {
  return claimAs(outbox, id, 'send');
}

/** A claim of one kind; fails otherwise. */
export async function claimAs<K extends ViolationClaim['kind']>(
  outbox: ViolationOutbox,
  id: string,
  kind: K,
): Promise<Extract<ViolationClaim, { kind: K }>> {
  const claim = await outbox.claim(id);
  const isWanted = (some: ViolationClaim): some is Extract<ViolationClaim, { kind: K }> => some.kind === kind;
  if (!isWanted(claim)) throw new Error(`expected ${kind}, but: ${JSON.stringify(claim)}`);
  return claim;
}

/** The result of an attempt. */
export function outcome(verdict: Verdict, also: Partial<AttemptResult> = {}): AttemptResult {
  return result(verdict, also);
}

/** Accepts the violation under this reference. */
export function takenAs(reference: string, also: Partial<AttemptResult> = {}): AttemptResult {
  return outcome(ACCEPTED, { acceptedViolation: { reference, serviceStatus: 'PENDING', canTow: null }, ...also });
}

/** A violation that was reported, sent, accepted and cleaned up. */
export async function createAcceptedViolation(stores: Stores, id: string, reference = `V-${id}`): Promise<void> {
  const outbox = openOutbox(stores);
  await reportViolations(stores, id);
  await outbox.settle(await mustClaimViolation(outbox, id), takenAs(reference));
  const { record } = await claimAs(outbox, id, 'cleanup');
  await outbox.completeCleanup(record);
}

/** Links the violation to a tow, as the processing of its tow request does. */
export function join({ records }: Pick<Stores, 'records'>, id: string, tow: MatchedTow): Promise<void> {
  return records.transact(orderKeyOf('violation', id), async (transaction) => {
    const violation = await transaction.violation(id);
    if (!violation) throw new Error('no such violation');
    // Only by the metadata id is a violation found that does not have the reference yet.
    const isEchoed = !violation.references.includes(tow.reference);
    matchTow(violation, { ...tow, isEchoed }, transaction.nowMs);
    transaction.setReferenceOwner(tow.reference, id);
  });
}

/** Links a tow to a violation; returns `done`, or the code of the refusal. */
export async function link({ records }: Stores, id: string, ref: string): Promise<string> {
  const effect = await linkViolation({ records }, { ref, violationId: id, actor: TESTER });
  return effect.kind === 'refused' ? effect.refusal.code : effect.kind;
}

/** The id of the violation with a reference of the service. */
export function idNamed({ records }: Stores, reference: string): Promise<string | undefined> {
  return records.transact('reading', async (transaction) => (await transaction.violationByReference(reference))?.id);
}

/** The stored violation; fails when there is none. */
export async function readViolation(stores: Stores, id: string) {
  const record = await stores.violations.read(id);
  if (!record) throw new Error('no such violation');
  return seenViolation(record);
}
