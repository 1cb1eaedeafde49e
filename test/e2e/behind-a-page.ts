import { eventually } from '../support/eventually';
import { servePages, type PageInFront } from '../support/proxy';
import { buildTown, type Town } from '../support/town';
import { createPatrol, FORM, picture } from './patrol';
import { callsAt, callsOf, requestTows } from './simulator-control';

/** The reports that each tow owes, in order; the first is sent before the page appears. */
const KINDS = ['started', 'detained', 'invoice', 'payment', 'released'] as const;
const START = { plate_number: 'ABC 1234', towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };
const BODIES: Readonly<Record<(typeof KINDS)[number], object>> = {
  started: START,
  detained: {},
  invoice: { vehicle_type: 'HEAVY' },
  payment: {},
  released: {},
};

/** What the service and the operator have once the page is gone and everything arrived. */
export interface Arrived {
  /** The kinds of the reports that the service acted on, in order of arrival, per tow. */
  readonly reports: readonly (readonly string[])[];
  /** How often the service acted on the violation, and how many images came with it. */
  readonly violations: readonly number[];
  readonly openTasks: readonly string[];
  /** The requests that the page answered. */
  readonly answeredByPage: readonly string[];
}

/**
 * Plays tows while a page answers in place of the service: started before it, all other facts and a violation with two
 * images meanwhile. Resolves once every report and the violation are accepted.
 * @param whileShown resolves when the page is to be taken away.
 */
export async function playBehindPage(
  redisUrl: string,
  options: { readonly tows: number; readonly whileShown: (page: PageInFront) => Promise<unknown> },
): Promise<Arrived> {
  const town = await buildTown(redisUrl);
  const page = await servePages(town.simulator.url);
  const app = await town.startInProcess({
    SERVICE_BASE_URL: page.url,
    RETRY_BASE_MS: '100',
    RETRY_CAP_MS: '1000',
    UNKNOWN_GRACE_MS: '500',
    BUDGET_AUTH_PER_MINUTE: '0',
  });
  const patrol = createPatrol(app.consoleUrl);
  const recordFact = async (ref: string, kind: (typeof KINDS)[number]) =>
    expect((await patrol.post(`/tows/${ref}/${kind}`, BODIES[kind])).status).toBe(202);
  const states = async (ref: string) => (await patrol.tow(ref)).reports.map(({ state }) => state);

  const refs = await requestTows(town, { count: options.tows });
  for (const ref of refs) {
    await eventually(async () => expect((await patrol.tow(ref)).state).toBe('requested'));
    await recordFact(ref, 'started');
    await eventually(async () => expect(await states(ref)).toEqual(['accepted']));
  }
  page.show();
  for (const ref of refs) await recordFact(ref, 'detained');
  await eventually(async () => expect(await typesOf(patrol)).toEqual(['connection']));
  for (const ref of refs) for (const kind of KINDS.slice(2)) await recordFact(ref, kind);
  const { id } = await patrol.report(FORM, [picture(2000), picture(3000)]);
  await options.whileShown(page);
  page.hide();

  for (const ref of refs) {
    await eventually(async () => expect(await states(ref)).toEqual(KINDS.map(() => 'accepted')), 120_000);
  }
  await eventually(async () => expect((await patrol.violation(id)).state).toBe('accepted'), 120_000);
  return {
    reports: await Promise.all(refs.map((ref) => actedOn(town, ref))),
    violations: (await callsOf(town, 'violation'))
      .filter(({ effect }) => effect)
      .map(({ body }) => (Array.isArray(body?.['images']) ? body['images'].length : 0)),
    openTasks: await typesOf(patrol),
    answeredByPage: page.answered(),
  };
}

/** What must have arrived, however long the page answered. */
export function everythingOnce(tows: number): Pick<Arrived, 'reports' | 'violations' | 'openTasks'> {
  return { reports: Array.from({ length: tows }, () => [...KINDS]), violations: [2], openTasks: [] };
}

async function typesOf({ tasks }: ReturnType<typeof createPatrol>): Promise<string[]> {
  return (await tasks()).map(({ type }) => type);
}

async function actedOn(town: Town, ref: string): Promise<string[]> {
  const calls = (await callsAt(town)).filter(({ effect, body }) => effect && body?.['towing_reference_id'] === ref);
  return calls.map(({ operation }) => operation);
}
