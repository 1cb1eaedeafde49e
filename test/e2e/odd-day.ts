import { Redis } from 'ioredis';
import { z } from 'zod';
import { differenceView } from '../../src/contracts/service/differences';
import { deliveryView, type taskView, type TowView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { otherCall } from '../../src/contracts/outbox/records';
import { violationView, type ViolationView } from '../../src/contracts/violation/violations';
import { createOperatorClient } from '../../src/demo/client';
import type { JsonObject, ReportKind } from '../../src/domain/vocabulary';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { startSimulator } from '../../src/simulator';
import type { FaultRule } from '../../src/simulator/answer/faults';
import { ODD_PROFILE, type ProfileChanges } from '../../src/simulator/profile';
import { startApp } from '../support/app';
import { eventually } from '../support/eventually';
import { walk } from '../support/conservation';
import { startRecorder, type RecordedExchange } from '../support/recorder';
import type { SharedRedis } from '../support/redis';
import { API_KEY } from '../support/town';
import type { ConservationScan } from '../../src/workflow/ops/conservation';
import { runView } from '../../src/contracts/ops/runs';
import { createPatrol, FORM, picture } from './patrol';

const CREDENTIALS = { clientId: 'odd-client', clientSecret: 'odd-client-secret' };
const SECRET = `whsec_${Buffer.from('the secret of the odd service').toString('base64')}`;

/** How the service misbehaves besides its profile. */
const FAULTS: FaultRule[] = [
  { operation: 'started', fault: 'latency', ms: 300, times: 1 },
  { operation: 'canceled', fault: 'expired_token', times: 1 },
  { operation: 'detained', fault: '429', ms: 1000, times: 1 },
  { operation: 'payment', fault: '500', times: 1 },
  { operation: 'tow_request', fault: 'duplicate', times: 1 },
];
const PROFILE: ProfileChanges = {
  base: 'odd',
  faults: FAULTS,
};

/** What happened on the wire during a day, and what towhook shows at its end. */
export interface OddDay {
  /** Calls of towhook to the service. */
  readonly calls: readonly RecordedExchange[];
  /** Calls of the service to the receiver. */
  readonly webhooks: readonly RecordedExchange[];
  readonly tows: readonly OddTow[];
  readonly violations: readonly ViolationView[];
  /** The tows as the service knows them. */
  readonly simulated: z.infer<typeof simulatedWorld>['tows'];
  readonly tasks: readonly z.infer<typeof taskView>[];
  readonly deliveries: readonly z.infer<typeof deliveryView>[];
  readonly otherCalls: readonly z.infer<typeof otherCall>[];
  readonly conservation: ConservationScan;
}

/** A tow of the day, with the reports that were recorded, in order. */
export interface OddTow {
  readonly view: TowView;
  readonly expected: readonly ReportKind[];
}

const simulatedWorld = z.object({
  tows: z.array(
    z.object({
      towing_reference_id: z.string(),
      statuses: z.array(z.string()),
      invoices: z.number(),
      payment_status: z.string().nullable(),
    }),
  ),
});
const simulatedWebhooks = z.object({
  items: z.array(z.object({ webhook_id: z.string(), status: z.number().nullable() })),
});
const differenceList = z.object({ items: z.array(differenceView) });
const simulatedOrders = z.object({ items: z.array(z.object({ towing_reference_id: z.string() })) });

/** Plays a day with a service that differs from its document wherever it can: the profile `odd`, and faults. */
export async function playOddDay(redis: SharedRedis): Promise<OddDay> {
  await redis.ask('FLUSHALL');
  let receiverUrl = '';
  const toReceiver = await startRecorder(() => receiverUrl);
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: silentLog,
    webhookUrl: toReceiver.url,
    webhookSecrets: { tow_request: [SECRET], tow_invoice: [SECRET] },
    credentials: CREDENTIALS,
    assessAfterMs: 100,
    profile: PROFILE,
  });
  const toService = await startRecorder(() => simulator.url);
  const app = await startApp({
    redisUrl: redis.url,
    environment: {
      SERVICE_BASE_URL: `${toService.url}/odd`,
      SERVICE_CLIENT_ID: CREDENTIALS.clientId,
      SERVICE_CLIENT_SECRET: CREDENTIALS.clientSecret,
      SERVICE_PATHS: JSON.stringify(ODD_PROFILE.paths),
      WEBHOOK_SECRETS: SECRET,
      BOOTSTRAP_API_KEY: API_KEY,
      VEHICLE_TYPES: 'HEAVY,TRUCK',
      RETRY_BASE_MS: '50',
    },
  });
  receiverUrl = app.receiverUrl;
  try {
    const crew = createCrew(simulator.url, app.consoleUrl);
    const outcome = await crew.outcome(await playAll(crew));
    // The worker has a scan of its own.
    await app.stop();
    const conservation = await scanned(redis.url);
    return { calls: toService.exchanges, webhooks: toReceiver.exchanges, conservation, ...outcome };
  } finally {
    await app.stop();
    toService.stop();
    toReceiver.stop();
    await simulator.stop(0);
  }
}

async function scanned(redisUrl: string): Promise<ConservationScan> {
  const connection = new Redis(redisUrl);
  try {
    return await walk(connection);
  } finally {
    connection.disconnect();
  }
}

type Crew = ReturnType<typeof createCrew>;

/** The people of the operator, at the operator API, and the control API of the simulator. */
function createCrew(simulatorUrl: string, consoleUrl: string) {
  const client = createOperatorClient(consoleUrl, API_KEY);
  const patrol = createPatrol(consoleUrl);
  const read = async <T extends z.ZodType>(url: string, contract: T): Promise<z.output<T>> =>
    contract.parse(await (await fetch(url, { headers: { authorization: `Bearer ${API_KEY}` } })).json());
  const control = async <T extends z.ZodType>(method: string, path: string, body: object, contract: T) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${simulatorUrl}/simulator${path}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`the simulator answered ${response.status} to ${path}`);
    return contract.parse(await response.json());
  };
  const simulated = async () => (await read(`${simulatorUrl}/simulator/world`, simulatedWorld)).tows;
  const tow = (ref: string) =>
    eventually(async () => {
      const view = await client.tow(ref);
      if (view === null) throw new Error(`tow ${ref} is not known yet`);
      return view;
    });
  return {
    client,
    patrol,
    tow,
    simulated,
    control: (method: string, path: string, body: object = {}) => control(method, path, body, z.unknown()),
    order: async (body: object = {}): Promise<string> => {
      const [ordered] = (await control('POST', '/tow-requests', body, simulatedOrders)).items;
      return ordered?.towing_reference_id ?? '';
    },
    /** Records facts one after the other. */
    record: async (ref: string, facts: readonly (readonly [ReportKind, JsonObject])[]) => {
      await tow(ref);
      for (const [kind, entry] of facts) await client.recordFact(ref, kind, entry);
      return facts.map(([kind]) => kind);
    },
    differences: async () => (await read(`${consoleUrl}/api/differences`, differenceList)).items,
    /** The states of the deliveries of these tows. */
    deliveryStates: async (refs: readonly string[]) => {
      const { items } = await read(`${consoleUrl}/api/deliveries?limit=200`, page(deliveryView));
      return items.flatMap(({ towing_reference_id: ref, state }) => (refs.includes(ref) ? [state] : []));
    },
    async outcome(played: readonly { readonly ref: string; readonly expected: readonly ReportKind[] }[]) {
      const tows = await Promise.all(
        played.map(({ ref, expected }) =>
          eventually(async () => {
            const view = await tow(ref);
            expect([ref, view.reports.map(({ kind, state }) => `${kind} ${state}`)]).toEqual([
              ref,
              expected.map((kind) => `${kind} accepted`),
            ]);
            return { view, expected };
          }),
        ),
      );
      const violations = await eventually(async () => {
        const { items } = await read(`${consoleUrl}/api/violations`, page(violationView));
        expect(items.filter(({ state }) => state !== 'accepted')).toEqual([]);
        return items;
      });
      await eventually(async () => {
        const { items } = await read(`${simulatorUrl}/simulator/webhooks`, simulatedWebhooks);
        // An attempt that ended without an answer is followed by another one of the same webhook.
        const answered = new Set(items.filter(({ status }) => status !== null).map(({ webhook_id: id }) => id));
        expect(items.filter(({ webhook_id: id }) => !answered.has(id))).toEqual([]);
      });
      const deliveries = (await read(`${consoleUrl}/api/deliveries?limit=200`, page(deliveryView))).items;
      const otherCalls = (await read(`${consoleUrl}/api/other-calls`, z.object({ items: z.array(otherCall) }))).items;
      return { tows, deliveries, otherCalls, tasks: await patrol.tasks(), simulated: await simulated(), violations };
    },
  };
}

const PLACE = { plate_number: 'ABC 1', towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };

/**
 * Two tow requests break the contract in one way. They are kept until ops declares the difference expected and has them
 * judged again.
 */
async function differingWebhooks({ order, record, control, patrol, differences, deliveryStates }: Crew) {
  await control('PUT', '/options', { ...PROFILE, faults: [], metadata: 'list' });
  const refs = [await order(), await order()];
  await eventually(async () => expect(await deliveryStates(refs)).toEqual(['differs', 'differs']));
  await control('PUT', '/options', { ...PROFILE, faults: [] });
  const tasks = (await patrol.tasks()).filter(({ type }) => type === 'webhook_differs');
  expect(tasks).toHaveLength(1);
  const kind = (await differences()).find(({ task_id }) => task_id === tasks[0]?.id);
  await patrol.post(`/differences/${kind?.id ?? ''}/expect`, { reason: 'seen with the service' });
  const preview = await patrol.post('/runs', { action: 'replay', difference_id: kind?.id, reason: 'expected now' });
  await patrol.post(`/runs/${runView.parse(await preview.json()).id}/start`);
  const facts = [['started', PLACE] as const, ['canceled', { cancellation_reason: 'gone' }] as const];
  return Promise.all(refs.map(async (ref) => ({ ref, expected: await record(ref, facts) })));
}

/** Plays each kind of tow; returns their references, and the reports that the service must receive, in order. */
async function playAll(crew: Crew) {
  await Promise.all(['v-1', 'v-2'].map((id) => crew.patrol.report(ticketed(id))));
  const plays = [towedVehicle, canceledTow, refusedInvoice, invoiceFirst, requestedTwice];
  const played = await Promise.all(plays.map((play) => play(crew)));
  return [...played, ...(await differingWebhooks(crew))];
}

/** A violation that needs no tow. */
function ticketed(id: string) {
  return { ...FORM, violationType: 'NO_TICKET', metadata: JSON.stringify({ id }) };
}

/** From a reported violation to the release. */
async function towedVehicle({ patrol, record, tow }: Crew) {
  const { id } = await patrol.report(FORM, [picture(2000)]);
  const ref = await eventually(async () => {
    const [first] = (await patrol.violation(id)).towing_reference_ids;
    if (first === undefined) throw new Error('no tow request for the violation yet');
    return first;
  });
  const first = await record(ref, [
    ['started', {}],
    ['detained', {}],
    ['invoice', { vehicle_type: 'HEAVY' }],
  ]);
  await eventually(async () => expect((await tow(ref)).invoices).toHaveLength(1));
  const second = await record(ref, [
    ['payment', { payment_status: 'PAID' }],
    ['released', {}],
  ]);
  return { ref, expected: [...first, ...second] };
}

async function canceledTow({ order, record }: Crew) {
  const ref = await order();
  return {
    ref,
    expected: await record(ref, [
      ['started', PLACE],
      ['canceled', { cancellation_reason: 'gone' }],
    ]),
  };
}

/** The service refuses the invoice in the body of a 200; a person corrects it. */
async function refusedInvoice({ order, record, tow, patrol }: Crew) {
  const ref = await order();
  const expected = await record(ref, [
    ['started', PLACE],
    ['detained', {}],
    ['invoice', { vehicle_type: 'TRUCK' }],
  ]);
  const report = await eventually(async () => {
    const found = (await tow(ref)).reports.find(({ kind }) => kind === 'invoice');
    expect(found?.state).toBe('refused');
    return found;
  });
  await patrol.post(`/tows/${ref}/reports/${report?.id ?? ''}/correct`, { vehicle_type: 'HEAVY' });
  await eventually(async () => expect((await tow(ref)).invoices).toHaveLength(1));
  return { ref, expected };
}

/** The invoice webhook of a tow that was settled at the roadside comes before its tow request. */
async function invoiceFirst({ order, control, record }: Crew) {
  const ref = await order({ send: false });
  await control('POST', '/invoices', { towing_reference_id: ref, towing_invoice: { total_amount: 1150 } });
  await control('POST', `/tow-requests/${ref}/send`);
  return {
    ref,
    expected: await record(ref, [
      ['started', PLACE],
      ['detained', {}],
    ]),
  };
}

/** The tow request comes again under another webhook id. */
async function requestedTwice({ order, control, record }: Crew) {
  const ref = await order();
  const expected = await record(ref, [
    ['started', PLACE],
    ['released', {}],
  ]);
  await control('POST', `/tow-requests/${ref}/send`);
  return { ref, expected };
}
