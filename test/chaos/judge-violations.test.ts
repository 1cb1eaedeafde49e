import type { PlayedTow } from './field-crew';
import { judgeViolations, type ViolationEvidence, type ViolationJudgement } from './judge-violations';
import type { CrewViolation } from './report-violation';
import type { DispatcherViolationDecision } from './dispatcher-violations';
import type { RecordedCall, ServiceViolation } from './record';

/** The judge must find each kind of failure, otherwise its approval proves nothing. */

const REFERENCE = 'V-20261120-ABCDEF';
const REF = 'TW-1';
const IMAGES = [{ name: 'front.png', size: 70, sha256: 'aa' }];
const violation: CrewViolation = {
  id: 'ours',
  metadata: { id: 'case-1', car: 3 },
  fields: { latitude: '24.7', longitude: '0', location: 'Olaya', plateNumber: 'VIO 1', isSaudi: 'true' },
  images: IMAGES,
};
const played: PlayedTow = {
  ref: REF,
  scenario: {
    name: 'a life',
    arrivesAtMs: 0,
    steps: [],
    hasEarlyInvoice: false,
    isRequestedTwice: false,
    violationScenario: null,
  },
  violation,
  violationReference: REFERENCE,
  expected: [],
  facts: [],
  refusals: [],
};
const stored: ServiceViolation = {
  violation_reference_id: REFERENCE,
  metadata: violation.metadata,
  fields: { ...violation.fields, latitude: 24.7, longitude: 0, isSaudi: true, metadata: violation.metadata },
  images: IMAGES,
};

const START_MS = Date.parse('2026-11-20T12:00:00Z');
const SENT_IMAGES = IMAGES.map((image) => ({ field: 'images', ...image }));
const SAID = { ...violation.fields, metadata: JSON.stringify(violation.metadata), images: SENT_IMAGES };

/** A create that worked, `seconds` after the start. */
function create(seconds: number, also: Partial<RecordedCall> = {}): RecordedCall {
  const at = new Date(START_MS + seconds * 1000).toISOString();
  const worked = { status: 200, effect: true, fault: null, hung_up: false };
  return { at, operation: 'violation', body: SAID, ...worked, ...also };
}
const LOST = { status: null, fault: 'lost_answer' } as const;
const HUNG = { status: null, effect: false, fault: 'hang' } as const;
const FAILED = { status: 500, effect: false, fault: '500' } as const;
const GATEWAY = { status: 502, effect: false, fault: '502' } as const;

function decision(action: DispatcherViolationDecision['action'], seconds: number): DispatcherViolationDecision {
  return { violationId: 'ours', action, taskType: 'violation_unknown', atMs: START_MS + seconds * 1000 };
}

const ORDER = { towing_reference_id: REF, violation_reference_id: REFERENCE };
const judged = (calls: readonly RecordedCall[], also: Partial<ViolationEvidence> = {}) =>
  judgeViolations([played], { calls, stored: [stored], orders: [ORDER], decisions: [], ...also });

describe('judge: accepts', () => {
  test.each<[string, readonly RecordedCall[], readonly DispatcherViolationDecision[]]>([
    ['a violation created once', [create(1)], []],
    ['one that was created again after a 500', [create(1, FAILED), create(5)], []],
    ['one that was retried by hand after no answer', [create(1, HUNG), create(9)], [decision('retry', 8)]],
    ['one whose answer was lost and that was not sent again', [create(1, LOST)], [decision('accept', 8)]],
    ['a create that was read when its sender had given up', [create(1, LOST), create(9, { hung_up: true })], []],
    [
      'one that was retried by hand before a slow service read the first create',
      [create(9, { ...HUNG, hung_up: true }), create(10)],
      [decision('retry', 8)],
    ],
    ['one that broke off in its middle', [create(1, { ...HUNG, body: null }), create(9)], []],
  ])('the judge accepts %s', (_what, calls, decisions) => {
    expect(judged(calls, { decisions })).toMatchObject({ posted: 1, exact: 1, images: 1, problems: [] });
  });
});

describe('judge: finds', () => {
  const finds = (findings: ViolationJudgement, figures: Partial<ViolationJudgement>) => {
    expect(findings).toMatchObject(figures);
    expect(findings.problems).not.toEqual([]);
  };

  test('the judge finds a violation that the service does not have', () => {
    finds(judged([create(1, FAILED)], { stored: [], orders: [] }), { missing: 1, exact: 0, wrongTows: 1 });
  });

  test.each<[string, Partial<ServiceViolation>]>([
    ['a field', { fields: { ...stored.fields, location: 'Olay' } }],
    ['a coordinate', { fields: { ...stored.fields, latitude: 24.700001 } }],
    ['one field too many', { fields: { ...stored.fields, fullName: 'Another Name' } }],
    ['the metadata', { fields: { ...stored.fields, metadata: { id: 'case-1' } } }],
    ['the bytes of an image', { images: [{ name: 'front.png', size: 70, sha256: 'ab' }] }],
    ['the name of an image', { images: [{ name: 'back.png', size: 70, sha256: 'aa' }] }],
    ['an image less', { images: [] }],
  ])('the judge finds another violation at the service: %s', (_what, other) => {
    finds(judged([create(1)], { stored: [{ ...stored, ...other }] }), { exact: 0, missing: 0 });
  });

  test('the judge finds a create that differs from the report and did not work', () => {
    const wrong = create(1, { ...FAILED, body: { ...SAID, plateNumber: 'VIO 2' } });
    finds(judged([wrong, create(5)]), { wrongForms: 1 });
  });

  test.each<[string, readonly RecordedCall[]]>([
    ['that got no answer', [create(1, HUNG), create(9)]],
    ['whose answer was lost', [create(1, LOST), create(9, FAILED)]],
    ['that a gateway answered', [create(1, FAILED), create(4, GATEWAY), create(9)]],
    ['that was accepted', [create(1), create(9, FAILED)]],
  ])('the judge finds a second create after one %s, without a decision', (_what, creates) => {
    finds(judged(creates), { forbiddenCreates: 1, repeated: creates.length - 1 });
  });

  test.each<[string, readonly DispatcherViolationDecision[]]>([
    ['the retry came later', [decision('retry', 9.5)]],
    ['it was accepted by hand', [decision('accept', 5)]],
  ])('the judge finds a second create that came when %s', (_what, decisions) => {
    finds(judged([create(1, LOST), create(9)], { decisions }), { forbiddenCreates: 1 });
  });

  test('the judge finds a create after one of unknown outcome that was read late, when an earlier one had been retried by hand', () => {
    const creates = [create(1, HUNG), create(9, { ...HUNG, hung_up: true }), create(10)];
    finds(judged(creates, { decisions: [decision('retry', 8)] }), { forbiddenCreates: 1 });
  });

  test('the judge finds a violation that was made twice, whether acknowledged or not', () => {
    finds(judged([create(1, LOST), create(9)], { decisions: [decision('retry', 8)] }), {
      forbiddenCreates: 0,
      madeTwice: 1,
    });
  });

  test.each([
    ['another violation', [{ ...ORDER, violation_reference_id: 'V-20261120-OTHERS' }]],
    ['no tow', []],
  ])('the judge finds a tow that the service ordered for %s', (_what, orders) => {
    finds(judged([create(1)], { orders }), { wrongTows: 1 });
  });

  test('the judge finds a violation that no patrol reported', () => {
    const stray = create(9, { ...FAILED, body: { ...SAID, metadata: '{"id":"case-2"}' } });
    finds(judged([create(1), stray]), { posted: 1, exact: 1 });
  });
});

test('the judge counts a tow as started from its violation only with plate and place of it', () => {
  const whereabouts = { plate_number: 'VIO 1', towed_location: 'Olaya', latitude: 24.7, longitude: 0 };
  const start = (said: object) => {
    const body = { towing_reference_id: REF, ...said };
    return judged([create(1), create(5, { operation: 'started', body })]).startedFromViolation;
  };
  expect(start(whereabouts)).toBe(1);
  expect(start({ ...whereabouts, plate_number: 'VIO 2' })).toBe(0);
  expect(start({ ...whereabouts, longitude: null })).toBe(0);
});
