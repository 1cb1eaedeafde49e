import { isDeepStrictEqual } from 'node:util';
import { jsonObject } from '../../src/contracts/common';
import type { PlayedTow } from './field-crew';
import { grouped } from './grouped';
import { isOnTime, isUncertain, createsBetweenRetries } from './judge-creates';
import { towFieldsOf, type CrewViolation } from './report-violation';
import type { DispatcherViolationDecision } from './dispatcher-violations';
import type { RecordedCall, ServiceViolation, OrderedTow } from './record';

/** The service's record of the violations, compared with what the patrols reported. */
export interface ViolationJudgement {
  readonly posted: number;
  readonly images: number;
  /** Violations that the service has exactly as they were posted. */
  readonly exact: number;
  readonly missing: number;
  /** Creates, answered or not, whose form differs from what was posted. */
  readonly wrongForms: number;
  /** Creates beyond the first of each violation. */
  readonly repeated: number;
  /** Creates after one of unknown outcome, without a decision. */
  readonly forbiddenCreates: number;
  /** Violations that the service stored more than once. */
  readonly madeTwice: number;
  /** Tows that towhook linked to another violation than the one the service ordered them for. */
  readonly wrongTows: number;
  /** Accepted started reports with the plate and place of the violation, which only the violation could provide. */
  readonly startedFromViolation: number;
  readonly problems: readonly string[];
}

export interface ViolationEvidence {
  readonly calls: readonly RecordedCall[];
  readonly stored: readonly ServiceViolation[];
  readonly orders: readonly OrderedTow[];
  readonly decisions: readonly DispatcherViolationDecision[];
}

/** Everything that was observed of one violation. */
interface ViolationObservations {
  readonly creates: readonly RecordedCall[];
  readonly stored: readonly ServiceViolation[];
  readonly decisions: readonly DispatcherViolationDecision[];
  /** The violation for which the service ordered its tow. */
  readonly orderedFor: string | null;
  /** The body of the accepted started report of its tow. */
  readonly started: RecordedCall['body'];
}

/** Judges all violations of the patrols. The reports of their tows are judged with all others. */
export function judgeViolations(playedTows: readonly PlayedTow[], evidence: ViolationEvidence): ViolationJudgement {
  const { calls } = evidence;
  const creates = grouped(calls.filter(isCreate), metadataIdOf);
  const stored = grouped(evidence.stored, ({ metadata }) => textOf(metadata?.['id']));
  const decisions = grouped(evidence.decisions, ({ violationId }) => violationId);
  const orders = new Map(evidence.orders.map((order) => [order.towing_reference_id, order.violation_reference_id]));
  const isStart = ({ operation, effect }: RecordedCall) => operation === 'started' && effect;
  const started = new Map(calls.filter(isStart).map((call) => [textOf(call.body?.['towing_reference_id']), call.body]));
  const reported = playedTows.flatMap(({ violation }) => violation ?? []);
  const findings = playedTows.flatMap(({ ref, violation, violationReference }) => {
    if (!violation) return [];
    const { id, metadata } = violation;
    const seen = {
      creates: creates.get(metadata.id) ?? [],
      stored: stored.get(metadata.id) ?? [],
      decisions: decisions.get(id) ?? [],
      orderedFor: orders.get(ref) ?? null,
      started: started.get(ref) ?? null,
    };
    return [judgeOne(violation, violationReference, seen)];
  });
  const sum = (of: (one: ReturnType<typeof judgeOne>) => number | boolean) =>
    findings.reduce((total, one) => total + Number(of(one)), 0);
  return {
    posted: reported.length,
    images: reported.reduce((total, { images }) => total + images.length, 0),
    exact: sum(({ isExact }) => isExact),
    missing: sum(({ isMissing }) => isMissing),
    wrongForms: sum(({ wrongForms }) => wrongForms),
    repeated: sum(({ repeated }) => repeated),
    forbiddenCreates: sum(({ forbidden }) => forbidden),
    madeTwice: sum(({ isMadeTwice }) => isMadeTwice),
    wrongTows: sum(({ isOwnTow }) => !isOwnTow),
    startedFromViolation: sum(({ isTowStarted }) => isTowStarted),
    problems: [...findings.flatMap(({ problems }) => problems), ...unknownCreates(creates, reported)],
  };
}

function judgeOne(violation: CrewViolation, reference: string, seen: ViolationObservations) {
  const { creates, stored, decisions, orderedFor } = seen;
  const retriesMs = decisions.filter(({ action }) => action === 'retry').map(({ atMs }) => atMs);
  const forbidden = createsBetweenRetries(creates, retriesMs).flatMap(afterUncertain);
  const wrong = creates.filter((call) => !isSentExactly(call, violation));
  const isMissing = stored.length === 0;
  const isExact = !isMissing && stored.every((one) => isStoredExactly(one, violation));
  const isMadeTwice = creates.filter((call) => call.effect && isOnTime(call)).length > 1;
  const isOwnTow = orderedFor === reference && stored.some((one) => one.violation_reference_id === reference);
  const problems = [
    ...(isMissing ? ['the service does not have it'] : []),
    ...(isMissing || isExact ? [] : [`the service has something else: ${JSON.stringify(stored)}`]),
    ...wrong.map(({ body }) => `wrong form ${JSON.stringify(body)}`),
    ...forbidden.map(({ at }) => `the create of ${at} came after one of unknown outcome`),
    ...(isMadeTwice ? ['made more than once'] : []),
    ...(isOwnTow ? [] : [`its tow is that of ${reference} and was ordered for ${orderedFor ?? 'nothing'}`]),
  ];
  return {
    isMissing,
    isExact,
    isMadeTwice,
    isOwnTow,
    isTowStarted: Object.entries(towFieldsOf(violation)).every(([name, value]) => seen.started?.[name] === value),
    wrongForms: wrong.length,
    forbidden: forbidden.length,
    repeated: Math.max(0, creates.length - 1),
    problems: problems.map((problem) => `violation ${violation.id}: ${problem}: ${creates.map(shown).join(', ')}`),
  };
}

/** A create that the service could read; a broken body leaves no record. */
function isCreate({ operation, body, status, effect }: RecordedCall): boolean {
  return operation === 'violation' && (body !== null || status !== null || effect);
}

/** After a create that may have taken effect none may follow without a decision. */
function afterUncertain(group: readonly RecordedCall[]): RecordedCall[] {
  const first = group.findIndex(isUncertain);
  return first < 0 ? [] : group.slice(first + 1).filter(isOnTime);
}

/** Whether the form was sent as entered, and the metadata with towhook's id unless the patrol gave one. */
function isSentExactly({ body }: RecordedCall, { fields, metadata, images }: CrewViolation): boolean {
  const { metadata: sent, ...others } = body ?? {};
  const sentImages = images.map((image) => ({ field: 'images', ...image }));
  return isDeepStrictEqual(others, { ...fields, images: sentImages }) && isDeepStrictEqual(jsonIn(sent), metadata);
}

/** Whether the service stored the form, by the types of docs/service-api.md#violation-form. */
function isStoredExactly(one: ServiceViolation, { fields, metadata, images }: CrewViolation): boolean {
  const typed = Object.entries(fields).map(([name, text]): [string, unknown] => {
    if (name === 'latitude' || name === 'longitude') return [name, Number(text)];
    return [name, name === 'isSaudi' ? text === 'true' : text];
  });
  return (
    isDeepStrictEqual(one.fields, { ...Object.fromEntries(typed), metadata }) && isDeepStrictEqual(one.images, images)
  );
}

/** Creates of violations that no patrol reported. */
function unknownCreates(
  creates: ReadonlyMap<string, readonly RecordedCall[]>,
  reported: readonly CrewViolation[],
): string[] {
  const ids = new Set(reported.map(({ metadata }) => metadata.id));
  return [...creates].flatMap(([id, calls]) =>
    ids.has(id)
      ? []
      : calls.map((call) => `a violation that no patrol reported: ${shown(call)} ${JSON.stringify(call.body)}`),
  );
}

function metadataIdOf({ body }: RecordedCall): string {
  return textOf(jsonObject.safeParse(jsonIn(body?.['metadata'])).data?.['id']);
}

function jsonIn(text: unknown): unknown {
  try {
    const value: unknown = JSON.parse(textOf(text));
    return value;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function shown({ at, status, fault, hung_up: hungUp }: RecordedCall): string {
  const notes = [status ?? 'no answer', ...(fault === null ? [] : [fault]), ...(hungUp ? ['hung up'] : [])];
  return `${at.slice(11, 23)} (${notes.join(', ')})`;
}
