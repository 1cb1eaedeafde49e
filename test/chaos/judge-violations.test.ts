import type { Story } from './crew';
import { judgeViolations, type ViolationEvidence, type ViolationFindings } from './judge-violations';
import type { ReportedViolation } from './patrol';
import type { ViolationDecision } from './person-violations';
import type { Call, HeldViolation } from './record';

/** As of the reports: a judge who cannot say no proves nothing. */

const REFERENCE = 'V-20261120-ABCDEF';
const REF = 'TW-1';
const IMAGES = [{ name: 'front.png', size: 70, sha256: 'aa' }];
const violation: ReportedViolation = {
  id: 'ours',
  metadata: { id: 'case-1', car: 3 },
  fields: { latitude: '24.7', longitude: '0', location: 'Olaya', plateNumber: 'VIO 1', isSaudi: 'true' },
  images: IMAGES,
};
const story: Story = {
  ref: REF,
  life: { name: 'a life', arrivesAtMs: 0, steps: [], hasEarlyInvoice: false, isRequestedTwice: false, sighting: null },
  violation,
  violationReference: REFERENCE,
  expected: [],
  facts: [],
  refusals: [],
};
const held: HeldViolation = {
  violation_reference_id: REFERENCE,
  metadata: violation.metadata,
  fields: { ...violation.fields, latitude: 24.7, longitude: 0, isSaudi: true, metadata: violation.metadata },
  images: IMAGES,
};

const START_MS = Date.parse('2026-11-20T12:00:00Z');
const SAID = { ...violation.fields, metadata: JSON.stringify(violation.metadata), images: IMAGES };

/** A create that worked, `seconds` after the start. */
function create(seconds: number, also: Partial<Call> = {}): Call {
  const at = new Date(START_MS + seconds * 1000).toISOString();
  const worked = { status: 200, effect: true, fault: null, hung_up: false };
  return { at, operation: 'violation', body: SAID, ...worked, ...also };
}
const LOST = { status: null, fault: 'lost_answer' } as const;
const HUNG = { status: null, effect: false, fault: 'hang' } as const;
const FAILED = { status: 500, effect: false, fault: '500' } as const;
const GATEWAY = { status: 502, effect: false, fault: '502' } as const;

function decision(action: ViolationDecision['action'], seconds: number): ViolationDecision {
  return { violationId: 'ours', action, taskType: 'violation_unknown', atMs: START_MS + seconds * 1000 };
}

const ORDER = { towing_reference_id: REF, violation_reference_id: REFERENCE };
const judged = (calls: readonly Call[], also: Partial<ViolationEvidence> = {}) =>
  judgeViolations([story], { calls, held: [held], orders: [ORDER], decisions: [], ...also });

describe('the judge lets pass', () => {
  test.each<[string, readonly Call[], readonly ViolationDecision[]]>([
    ['a violation created once', [create(1)], []],
    ['one that was created again after a 500', [create(1, FAILED), create(5)], []],
    ['one that a person sent again after no answer', [create(1, HUNG), create(9)], [decision('retry', 8)]],
    ['one whose answer was lost and that was not sent again', [create(1, LOST)], [decision('accept', 8)]],
    ['a create that was read when its sender had given up', [create(1, LOST), create(9, { hung_up: true })], []],
    [
      'one that a person sent again before a slow service read the first create',
      [create(9, { ...HUNG, hung_up: true }), create(10)],
      [decision('retry', 8)],
    ],
    ['one that broke off in its middle', [create(1, { ...HUNG, body: null }), create(9)], []],
  ])('%s', (_what, calls, decisions) => {
    expect(judged(calls, { decisions })).toMatchObject({ posted: 1, exact: 1, images: 1, problems: [] });
  });
});

describe('the judge finds', () => {
  const finds = (findings: ViolationFindings, figures: Partial<ViolationFindings>) => {
    expect(findings).toMatchObject(figures);
    expect(findings.problems).not.toEqual([]);
  };

  test('a violation that the service does not have', () => {
    finds(judged([create(1, FAILED)], { held: [], orders: [] }), { missing: 1, exact: 0, wrongTows: 1 });
  });

  test.each<[string, Partial<HeldViolation>]>([
    ['a field', { fields: { ...held.fields, location: 'Olay' } }],
    ['a coordinate', { fields: { ...held.fields, latitude: 24.700001 } }],
    ['one field too many', { fields: { ...held.fields, fullName: 'Nobody' } }],
    ['the metadata', { fields: { ...held.fields, metadata: { id: 'case-1' } } }],
    ['the bytes of an image', { images: [{ name: 'front.png', size: 70, sha256: 'ab' }] }],
    ['the name of an image', { images: [{ name: 'back.png', size: 70, sha256: 'aa' }] }],
    ['an image less', { images: [] }],
  ])('another violation at the service: %s', (_what, other) => {
    finds(judged([create(1)], { held: [{ ...held, ...other }] }), { exact: 0, missing: 0 });
  });

  test('a create that said something else and did not even work', () => {
    const wrong = create(1, { ...FAILED, body: { ...SAID, plateNumber: 'VIO 2' } });
    finds(judged([wrong, create(5)]), { wrongForms: 1 });
  });

  test.each<[string, readonly Call[]]>([
    ['that got no answer', [create(1, HUNG), create(9)]],
    ['whose answer was lost', [create(1, LOST), create(9, FAILED)]],
    ['that a gateway answered', [create(1, FAILED), create(4, GATEWAY), create(9)]],
    ['that was accepted', [create(1), create(9, FAILED)]],
  ])('a second create after one %s, without a word of a person', (_what, creates) => {
    finds(judged(creates), { forbiddenCreates: 1, repeated: creates.length - 1 });
  });

  test.each<[string, readonly ViolationDecision[]]>([
    ['a person looked', [decision('retry', 9.5)]],
    ['a person accepted it', [decision('accept', 5)]],
  ])('a second create that came when %s', (_what, decisions) => {
    finds(judged([create(1, LOST), create(9)], { decisions }), { forbiddenCreates: 1 });
  });

  test('a create after one of unknown outcome that was read late, when a person had retried an earlier one', () => {
    const creates = [create(1, HUNG), create(9, { ...HUNG, hung_up: true }), create(10)];
    finds(judged(creates, { decisions: [decision('retry', 8)] }), { forbiddenCreates: 1 });
  });

  test('a violation that was made twice, whoever said so', () => {
    finds(judged([create(1, LOST), create(9)], { decisions: [decision('retry', 8)] }), {
      forbiddenCreates: 0,
      madeTwice: 1,
    });
  });

  test.each([
    ['another violation', [{ ...ORDER, violation_reference_id: 'V-20261120-OTHERS' }]],
    ['nobody', []],
  ])('a tow that the service ordered for %s', (_what, orders) => {
    finds(judged([create(1)], { orders }), { wrongTows: 1 });
  });

  test('a violation that nobody reported', () => {
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
