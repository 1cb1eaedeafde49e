import type { ViolationApi, ViolationType } from '../../src/domain/vocabulary';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createSpool } from '../../src/spool';
import { createSpoolMarker } from '../../src/store/ops/spool-marker';
import { decide, report, violationOf } from '../support/violations';
import type { TestBed } from './test-bed';
import type { Scenario } from './scenario';

/** The one violation of a scenario. */
const VIOLATION_ID = 'U1';
/** The simulator has an active ticket for plates with an even last digit. */
const PLATE = { withTicket: 'ABC 1234', withoutTicket: 'ABC 1235' };
/** The tow request comes after 20 ms, on a busy machine after seconds; it must come within this time. */
const PROOF_MS = 8000;
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface Reported {
  readonly api?: ViolationApi;
  readonly violationType?: ViolationType;
  readonly plateNumber?: string;
}

/** Reports a violation with one image. */
function reported({ api = 'reference', violationType = 'WRONG_PARKING', ...also }: Reported = {}): Scenario['prepare'] {
  return async ({ testBed }) => {
    const image = { ...(await keepImage(testBed)), name: 'front.png', contentType: 'image/png' };
    const base = violationOf(VIOLATION_ID, { api, images: [image] });
    const { plateNumber = PLATE.withoutTicket } = also;
    const violation = { ...base, form: { ...base.form, violationType, plateNumber } };
    await report(testBed.stores, violation);
  };
}

async function keepImage({ dataDir, stores }: TestBed) {
  const marker = createSpoolMarker(stores.redis);
  const spool = createSpool({ dataDir, marker, keepMs: 0, clock: systemClock, log: silentLog });
  // The console claims the shared disk before it takes images in.
  await spool.state();
  const upload = await spool.begin();
  const kept = await upload.write(
    (async function* () {
      yield await Promise.resolve(PIXEL);
    })(),
  );
  await upload.keep({ kind: 'violation', id: VIOLATION_ID });
  return kept;
}

const settings = { graceMs: PROOF_MS };
const TOWED = ['tow_request processed created', 'violation accepted, image deleted, 1 tow joined'];

/** Scenarios in which a worker submits a violation. */
export const VIOLATION_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a violation whose tow is requested',
    end: TOWED,
    settings,
    repeats: 0,
    createsMax: 1,
    mayNeedPerson: 'if_nothing_was_created',
    prepare: reported(),
  },
  {
    name: 'a violation that takes a permit',
    end: TOWED,
    settings: { ...settings, callsPerMinute: 20 },
    repeats: 0,
    createsMax: 1,
    mayNeedPerson: 'if_nothing_was_created',
    prepare: reported(),
  },
  {
    name: 'a violation that depends on a ticket',
    end: ['violation accepted, image deleted, 0 tows joined'],
    settings: { graceMs: 100 },
    repeats: 0,
    createsMax: 1,
    mayNeedPerson: 'always',
    mayWaitForLease: true,
    prepare: reported({ violationType: 'NO_TICKET' }),
  },
  {
    name: 'a violation whose vehicle has an active ticket',
    end: ['violation held, image kept, 0 tows joined', 'active_ticket: retry, correct, waive'],
    repeats: 0,
    createsMax: 0,
    prepare: reported({ violationType: 'NO_TICKET', plateNumber: PLATE.withTicket }),
  },
  {
    name: 'a violation whose ticket check fails once',
    end: ['violation accepted, image deleted, 0 tows joined'],
    settings: { graceMs: 100 },
    faults: [{ operation: 'ticket', fault: '500', times: 1 }],
    repeats: 0,
    createsMax: 1,
    mayNeedPerson: 'always',
    prepare: reported({ violationType: 'NO_TICKET' }),
  },
  {
    name: 'a violation whose answer is lost',
    end: TOWED,
    settings,
    faults: [{ operation: 'violation', fault: 'lost_answer', times: 1 }],
    repeats: 0,
    createsMax: 1,
    mayNeedPerson: 'if_nothing_was_created',
    prepare: reported(),
  },
  {
    name: 'a refused violation',
    end: ['violation refused, image kept, 0 tows joined', 'violation_refused: correct, retry, waive, accept'],
    settings: { graceMs: 100 },
    faults: [{ operation: 'violation', fault: '400' }],
    repeats: 0,
    createsMax: 0,
    mayNeedPerson: 'always',
    prepare: reported(),
  },
  {
    name: 'a violation answered 500 once',
    end: TOWED,
    settings: { graceMs: 100 },
    faults: [{ operation: 'violation', fault: '500', times: 1 }],
    repeats: 1,
    createsMax: 1,
    mayNeedPerson: 'always',
    prepare: reported(),
  },
  {
    name: 'a violation that never gets an answer',
    end: ['violation unknown, image kept, 0 tows joined', 'violation_unknown: accept, retry, waive'],
    settings: { graceMs: 100 },
    faults: [{ operation: 'violation', fault: 'drop' }],
    repeats: 0,
    createsMax: 0,
    mayNeedPerson: 'always',
    prepare: reported(),
  },
  {
    name: 'a violation of the guide API',
    end: TOWED,
    settings,
    repeats: 0,
    createsMax: 1,
    mayNeedPerson: 'always',
    prepare: reported({ api: 'guide' }),
  },
  {
    name: 'a violation answered with a broken contract',
    end: [...TOWED, 'answer_differs: expect'],
    settings,
    faults: [{ operation: 'violation', fault: 'broken_answer', times: 1 }],
    repeats: 0,
    createsMax: 1,
    mayNeedPerson: 'if_nothing_was_created',
    endWithoutAnswer: TOWED,
    prepare: reported(),
  },
  {
    name: 'a waived violation',
    end: ['violation waived, image deleted, 0 tows joined'],
    repeats: 0,
    createsMax: 0,
    prepare: async (stage) => {
      await reported()(stage);
      await decide(stage.testBed.stores, VIOLATION_ID, { action: 'waive', reason: 'no' });
    },
  },
];
