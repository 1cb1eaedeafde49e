import type { ViolationInput } from '../contracts/violation-input';
import type { ViolationView } from '../contracts/violations';
import { auditOf, type Actor } from '../domain/audit';
import { formatWarnings } from '../domain/format-warnings';
import { conflict } from '../domain/refusal';
import { violationSearchTerms } from '../domain/search';
import type { Violation, ViolationImage } from '../domain/violation';
import { metadataWithId } from '../domain/violation-metadata';
import type { ViolationApi } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { RememberAnswer, Wake } from './ports';
import { effectOf, type Effect } from './effect';
import type { Upload } from './spool-port';
import type { ViolationStore } from './violation-port';
import { violationViewOf } from './violation-view';

export interface ReportTools {
  readonly violations: Pick<ViolationStore, 'create'>;
  readonly wake: Wake;
}

/** A violation as somebody reports it, with its images in the spool. */
export interface NewViolation {
  readonly form: ViolationInput;
  readonly images: readonly ViolationImage[];
  readonly actor: Actor;
}

/** Everything about a new violation that is known before it is stored. */
export function newViolation(given: NewViolation, tools: { api: ViolationApi; clock: Clock }): Violation {
  const id = tools.clock.id();
  const nowMs = tools.clock.nowMs();
  const metadata = metadataWithId(given.form.metadata, id);
  const form = { ...given.form, metadata: metadata.value };
  const { api } = tools;
  return {
    id,
    api,
    form,
    metadataText: metadata.text,
    images: given.images,
    warnings: formatWarnings(form, { api, images: given.images.length, nowMs }),
    createdAt: new Date(nowMs).toISOString(),
    by: given.actor.name,
  };
}

/** What the API answers about a violation that was just stored and that no worker has touched. */
export function newViolationView(violation: Violation): ViolationView {
  return violationViewOf({
    violation,
    state: 'pending',
    version: 1,
    revision: 1,
    attempts: 0,
    failures: 0,
    mayHaveHadEffect: false,
    inFlight: false,
    nextAttemptAtMs: null,
    waitsFor: null,
    giveUpAtMs: null,
    lastError: null,
    hint: null,
    reason: null,
    ticket: null,
    ticketFailures: 0,
    ticketOverruled: false,
    reference: null,
    references: [],
    serviceStatus: null,
    canTow: null,
    acceptedHow: null,
    acceptedAtMs: null,
    isAnswerQuestioned: false,
    answer: null,
    brokenAnswer: null,
    towingReferenceIds: [],
    log: [],
  });
}

/**
 * Keeps the images and stores the violation, which makes it due, or refuses and keeps nothing. When it rejects, the
 * violation may be stored or not; its images are there if it is.
 */
export async function reportViolation(
  tools: ReportTools,
  request: { violation: Violation; upload: Upload; actor: Actor; remember: RememberAnswer | undefined },
): Promise<Effect> {
  const { violation, upload, actor, remember } = request;
  const audit = auditOf(actor, 'violation.reported', { on: { violation_id: violation.id } });
  // Files first: a worker may send the violation the moment it is stored.
  await upload.keep({ kind: 'violation', id: violation.id });
  const terms = violationSearchTerms(violation, null);
  const saved = await tools.violations.create(violation, { searchTerms: terms }, { audit, remember });
  if (saved.kind !== 'saved') await upload.takeBack();
  if (saved.kind === 'alias_taken') return { kind: 'refused', refusal: metadataIdTaken };
  if (saved.kind === 'alias_of_waived') return { kind: 'refused', refusal: metadataIdOfWaived };
  const effect = effectOf(saved);
  if (effect === 'stale' || effect === null) throw new Error('a new violation cannot be stale');
  if (effect.kind === 'done') tools.wake.violation(violation.id);
  return effect;
}

const USED_ALREADY = [{ field: 'metadata.id', rule: 'must not be that of another violation' }];

const metadataIdTaken = conflict(
  'metadata_id_taken',
  'Another violation that is still here has this metadata.id; each needs its own.',
  USED_ALREADY,
).refusal;

const metadataIdOfWaived = conflict(
  'metadata_id_taken',
  'A waived violation that is still here has this metadata.id, and it may have been sent: the service may know it by this id. Use another one.',
  USED_ALREADY,
).refusal;
