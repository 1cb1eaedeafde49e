import { deliveryPage, towView, type TowView } from '../../src/contracts/operator';
import { simulatorOrders } from '../../src/contracts/service/simulator';
import { violationView } from '../../src/contracts/violation/violations';
import type { DemoEnvironment } from '../../src/demo/environment';
import { eventually } from '../support/eventually';
import { writeHistory } from './history';

/** A day of an operator as pictures show it: names of what is worth a picture. */
export interface Scene {
  /** Asked for, with a crew on its way. */
  readonly requested: string;
  /** In the yard with an invoice of both charges, a hold and a photo. */
  readonly detained: string;
  /** Its report was refused; a person must decide. */
  readonly refused: string;
  readonly violation: string;
  readonly delivery: string;
}

const PLACES = [
  ['أ ب ح 1234', 'King Fahd Road, Al Olaya', 24.7136, 46.6753],
  ['KSA 8421', 'Prince Sultan Street, Al Rawdah', 21.5657, 39.1522],
  ['د ر س 77', 'طريق الملك عبدالله، حي الورود', 24.7412, 46.6588],
  ['ENG 3030', 'Tahlia Street, Al Sulaymaniyah', 24.6935, 46.6853],
  ['ل م ن 5150', 'شارع العليا، حي المروج', 24.7521, 46.6612],
  ['BTR 612', 'Takhassusi Street, Al Maathar', 24.6731, 46.6607],
] as const;
const ZONE = 'a3f0c1d2-5b6e-4c7d-8e9f-0a1b2c3d4e5f';

/** Plays the day; resolves once every tow stands where its picture wants it. */
export async function playScene(stage: DemoEnvironment, vehicle: Uint8Array<ArrayBuffer>): Promise<Scene> {
  const world = worldOf(stage);
  await writeHistory(stage.foundation);
  const violations = await Promise.all([0, 2, 4].map((index) => world.report(index, vehicle)));
  for (const name of ['Yard Olaya', 'Crew 4', 'Dispatch']) await world.post('/keys', { name, role: roleOf(name) });
  const [first = '', second = ''] = await world.order({ count: 2 });
  await world.finish(first, 1);
  await world.cancel(second);

  const [detained = '', started = '', refused = '', requested = '', other = ''] = await world.order({ count: 5 });
  await world.start(detained, 0);
  await world.post(`/tows/${detained}/detained`);
  await world.post(`/tows/${detained}/yard`, { yard: 'Olaya yard', slot: 'B-14' });
  await world.photo(detained, vehicle);
  await world.post(`/tows/${detained}/invoice`, { vehicle_type: 'HEAVY', delay_in_days: 3 });
  await world.when(detained, ({ invoices }) => invoices.length > 1);
  await world.post(`/tows/${detained}/notes`, { text: 'صاحب المركبة اتصل وسيحضر بعد العصر' });
  await world.post(`/tows/${detained}/holds`, { reason: 'Police asked to keep the vehicle' });

  await world.start(started, 3);
  await world.assign(requested, 'Crew 4', 'RYD 2201');
  await world.post(`/tows/${requested}/steps`, { step: 'accepted' });
  await world.post(`/tows/${requested}/steps`, { step: 'en_route' });
  await world.assign(other, 'Crew 2', 'RYD 1187');

  await world.setFaults([{ operation: 'started', fault: '400', times: 1 }]);
  await world.start(refused, 5);
  await world.when(refused, ({ tasks }) => tasks.length > 0);
  // One more that goes on trying by itself while the pictures are taken.
  const [trying = ''] = await world.order({ count: 1 });
  await world.setFaults([{ operation: 'started', fault: '500', times: 50 }]);
  await world.start(trying, 4);
  await world.when(trying, ({ reports }) => reports.some(({ attempts }) => attempts > 0));
  return { requested, detained, refused, violation: violations[0] ?? '', delivery: await world.delivery() };
}

function roleOf(name: string): string {
  if (name.startsWith('Crew')) return 'crew';
  return name === 'Dispatch' ? 'dispatcher' : 'viewer';
}

function worldOf({ consoleUrl, simulatorUrl, apiKey }: DemoEnvironment) {
  const authorization = `Bearer ${apiKey}`;
  const ask = async (
    path: string,
    { headers = {}, ...sent }: { method?: string; body?: string | FormData; headers?: Record<string, string> } = {},
  ): Promise<unknown> => {
    const answer = await fetch(`${consoleUrl}/api${path}`, { ...sent, headers: { authorization, ...headers } });
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const post = (path: string, body: object = {}) =>
    ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  const simulate = async (method: string, path: string, body: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${simulatorUrl}/simulator/${path}`, { method, body: JSON.stringify(body), headers });
    if (!answer.ok) throw new Error(`the simulator answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const tow = async (ref: string) => towView.parse(await ask(`/tows/${ref}`));
  const when = (ref: string, isSo: (tow: TowView) => boolean) =>
    eventually(async () => {
      if (!isSo(await tow(ref))) throw new Error(`${ref} is not so yet`);
    });
  const start = async (ref: string, index: number) => {
    const [plate, location, latitude, longitude] = PLACES[index] ?? PLACES[0];
    await post(`/tows/${ref}/started`, { plate_number: plate, towed_location: location, latitude, longitude });
  };
  return {
    post,
    when,
    start,
    setFaults: (faults: readonly object[]) => simulate('PUT', 'faults', faults),
    assign: (ref: string, crew: string, truck: string) => post(`/tows/${ref}/assignment`, { crew, truck }),
    async order(wanted: object): Promise<string[]> {
      const { items } = simulatorOrders.parse(await simulate('POST', 'tow-requests', wanted));
      const refs = items.map(({ towing_reference_id: ref }) => ref);
      for (const ref of refs) await eventually(() => tow(ref));
      return refs;
    },
    async finish(ref: string, index: number) {
      await start(ref, index);
      for (const [fact, body] of [
        ['detained', {}],
        ['invoice', { vehicle_type: 'HEAVY' }],
        ['payment', { external_reference: 'POS-88412' }],
        ['released', {}],
      ] as const) {
        await post(`/tows/${ref}/${fact}`, body);
      }
      await when(ref, ({ reports }) => reports.every(({ state }) => state === 'accepted'));
    },
    cancel: (ref: string) => post(`/tows/${ref}/canceled`, { cancellation_reason: 'Gone on arrival' }),
    async photo(ref: string, bytes: Uint8Array<ArrayBuffer>) {
      const form = new FormData();
      form.append('images', new Blob([bytes], { type: 'image/png' }), 'front.png');
      await ask(`/tows/${ref}/photos`, { method: 'POST', body: form });
    },
    async report(index: number, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
      const [plate, location, latitude, longitude] = PLACES[index] ?? PLACES[0];
      const form = new FormData();
      const fields = { latitude, longitude, location, plateNumber: plate, plateType: 'PRIVATE', zoneId: ZONE };
      for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
      form.append('violationType', index === 0 ? 'PROH_PARKING' : 'WRONG_PARKING');
      for (const name of ['front.png', 'side.png'])
        form.append('images', new Blob([bytes], { type: 'image/png' }), name);
      return violationView.parse(await ask('/violations', { method: 'POST', body: form })).id;
    },
    async delivery(): Promise<string> {
      const { items } = deliveryPage.parse(await ask('/deliveries?limit=20'));
      return items.find(({ kind }) => kind === 'tow_invoice')?.id ?? items[0]?.id ?? '';
    },
  };
}
