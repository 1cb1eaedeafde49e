import { isDeepStrictEqual } from 'node:util';
import { jsonObject } from '../../src/contracts/common';
import type { Story } from './crew';
import { grouped } from './grouped';
import { isOnTime, isUncertain, stretchesOf } from './judge-creates';
import { whereaboutsOf, type ReportedViolation } from './patrol';
import type { ViolationDecision } from './person-violations';
import type { Call, HeldViolation, Order } from './record';

/** What the service recorded of the violations, held against what the patrols reported. */
export interface ViolationFindings {
  readonly posted: number;
  readonly images: number;
  /** Those that the service has exactly as they were posted. */
  readonly exact: number;
  readonly missing: number;
  /** Creates, answered or not, that said anything else than was posted. */
  readonly wrongForms: number;
  /** Creates beyond the first of each. */
  readonly repeated: number;
  /** Creates after one whose outcome nobody could know, without a person's word. */
  readonly forbiddenCreates: number;
  /** Violations that the service made more than once. */
  readonly madeTwice: number;
  /** Tows that towhook holds for those of another violation than the service ordered them for. */
  readonly wrongTows: number;
  /** Started reports that the service took with plate and place of the violation; nobody else told them. */
  readonly startedFromViolation: number;
  readonly problems: readonly string[];
}

export interface ViolationEvidence {
  readonly calls: readonly Call[];
  readonly held: readonly HeldViolation[];
  readonly orders: readonly Order[];
  readonly decisions: readonly ViolationDecision[];
}

/** Everything seen of one violation. */
interface OneSeen {
  readonly creates: readonly Call[];
  readonly held: readonly HeldViolation[];
  readonly decisions: readonly ViolationDecision[];
  /** The violation for which the service ordered its tow. */
  readonly orderedFor: string | null;
  /** What the service took as the start of its tow. */
  readonly started: Call['body'];
}

/** Judges everything that patrols reported; the reports of its tows are judged with all others. */
export function judgeViolations(stories: readonly Story[], evidence: ViolationEvidence): ViolationFindings {
  const { calls } = evidence;
  const creates = grouped(calls.filter(isCreate), metadataIdOf);
  const held = grouped(evidence.held, ({ metadata }) => textOf(metadata?.['id']));
  const decisions = grouped(evidence.decisions, ({ violationId }) => violationId);
  const orders = new Map(evidence.orders.map((order) => [order.towing_reference_id, order.violation_reference_id]));
  const isStart = ({ operation, effect }: Call) => operation === 'started' && effect;
  const started = new Map(calls.filter(isStart).map((call) => [textOf(call.body?.['towing_reference_id']), call.body]));
  const reported = stories.flatMap(({ violation }) => violation ?? []);
  const findings = stories.flatMap(({ ref, violation, violationReference }) => {
    if (!violation) return [];
    const { id, metadata } = violation;
    const seen = {
      creates: creates.get(metadata.id) ?? [],
      held: held.get(metadata.id) ?? [],
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
    problems: [...findings.flatMap(({ problems }) => problems), ...strays(creates, reported)],
  };
}

function judgeOne(violation: ReportedViolation, reference: string, seen: OneSeen) {
  const { creates, held, decisions, orderedFor } = seen;
  const retriesMs = decisions.filter(({ action }) => action === 'retry').map(({ atMs }) => atMs);
  const forbidden = stretchesOf(creates, retriesMs).flatMap(afterTheUncertain);
  const wrong = creates.filter((call) => !saysExactly(call, violation));
  const isMissing = held.length === 0;
  const isExact = !isMissing && held.every((one) => isExactly(one, violation));
  const isMadeTwice = creates.filter((call) => call.effect && isOnTime(call)).length > 1;
  const isOwnTow = orderedFor === reference && held.some((one) => one.violation_reference_id === reference);
  const problems = [
    ...(isMissing ? ['the service does not have it'] : []),
    ...(isMissing || isExact ? [] : [`the service has something else: ${JSON.stringify(held)}`]),
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
    isTowStarted: Object.entries(whereaboutsOf(violation)).every(([name, value]) => seen.started?.[name] === value),
    wrongForms: wrong.length,
    forbidden: forbidden.length,
    repeated: Math.max(0, creates.length - 1),
    problems: problems.map((problem) => `violation ${violation.id}: ${problem}: ${creates.map(shown).join(', ')}`),
  };
}

/** A create of which the service read anything: of one that broke off in its middle nothing came. */
function isCreate({ operation, body, status, effect }: Call): boolean {
  return operation === 'violation' && (body !== null || status !== null || effect);
}

/** Once one may have worked, none may follow until a person says so. */
function afterTheUncertain(stretch: readonly Call[]): Call[] {
  const first = stretch.findIndex(isUncertain);
  return first < 0 ? [] : stretch.slice(first + 1).filter(isOnTime);
}

/** The form on the wire: every field as it was entered, the metadata with towhook's id unless the patrol gave one. */
function saysExactly({ body }: Call, { fields, metadata, images }: ReportedViolation): boolean {
  const { metadata: said, ...others } = body ?? {};
  return isDeepStrictEqual(others, { ...fields, images }) && isDeepStrictEqual(jsonIn(said), metadata);
}

/** What the service made of the form, by the types of service-api 2.1. */
function isExactly(one: HeldViolation, { fields, metadata, images }: ReportedViolation): boolean {
  const typed = Object.entries(fields).map(([name, text]): [string, unknown] => {
    if (name === 'latitude' || name === 'longitude') return [name, Number(text)];
    return [name, name === 'isSaudi' ? text === 'true' : text];
  });
  return (
    isDeepStrictEqual(one.fields, { ...Object.fromEntries(typed), metadata }) && isDeepStrictEqual(one.images, images)
  );
}

/** Creates of violations that nobody reported. */
function strays(creates: ReadonlyMap<string, readonly Call[]>, reported: readonly ReportedViolation[]): string[] {
  const ids = new Set(reported.map(({ metadata }) => metadata.id));
  return [...creates].flatMap(([id, calls]) =>
    ids.has(id)
      ? []
      : calls.map((call) => `a violation that nobody reported: ${shown(call)} ${JSON.stringify(call.body)}`),
  );
}

function metadataIdOf({ body }: Call): string {
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

function shown({ at, status, fault, hung_up: hungUp }: Call): string {
  const notes = [status ?? 'no answer', ...(fault === null ? [] : [fault]), ...(hungUp ? ['hung up'] : [])];
  return `${at.slice(11, 23)} (${notes.join(', ')})`;
}
