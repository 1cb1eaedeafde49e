import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { storedObject } from '../../src/domain/stored';
import { KEYS, towKey, violationKey } from '../../src/store/keys';
import { packFields, unpackFields } from '../../src/store/redis/packed-fields';
import { setCircuit } from '../support/stored-records';
import { ACCEPTED, INVOICE, mustClaim, result, START, towRequest, useStores } from '../support/stores';
import {
  claimAs,
  mustClaimViolation,
  openOutbox,
  readViolation,
  reportViolations,
  takenAs,
} from '../support/violations';
import { reportProbe } from '../../src/workflow/outbox/prove-connection';

/** Another version of towhook may have written fields that this one does not know. */

const stores = useStores();

const LATER = { added: 'by a later version' };
const LATER_TEXT = JSON.stringify(LATER);
/** Objects that are not ours are kept whole. */
const FOREIGN = /^(metadata|form|body|answer|entry|towingInvoice|delayInvoice|lease|later)$/;
/** Not objects with fields, but maps by name or id. */
const MAPS = /^(tasks|open|forbidden)$/;

type Place = readonly string[];

const isPacked = async (key: string) => (await stores.redis.hexists(key, 'z')) === 1;

/** Adds a field to a stored hash, and to each object in its fields at every depth; resolves with the places of the latter. */
async function addUnknown(key: string): Promise<Place[]> {
  const { v = '', state = '', ...fields } = unpackFields(await stores.redis.hgetall(key));
  const places: Place[] = [];
  const extended = Object.entries(fields).map(([name, json]) => {
    const value: unknown = JSON.parse(json);
    return [name, JSON.stringify(withUnknown(value, [name], places))] as const;
  });
  const set = { ...Object.fromEntries(extended), later: LATER_TEXT };
  const also = state === '' ? {} : { state };
  const version = `${Number.parseInt(v, 10) + 1}.later`;
  await stores.redis.hset(key, { ...((await isPacked(key)) ? packFields(set) : set), ...also, v: version });
  return places;
}

function withUnknown(value: unknown, place: Place, places: Place[]): unknown {
  if (Array.isArray(value)) return value.map((item, at) => withUnknown(item, [...place, String(at)], places));
  if (typeof value !== 'object' || value === null) return value;
  const name = place.at(-1) ?? '';
  if (FOREIGN.test(name)) return value;
  const inner = Object.entries(value).map(([field, item]) => [field, withUnknown(item, [...place, field], places)]);
  if (MAPS.test(name)) return Object.fromEntries(inner);
  places.push(place);
  return { ...Object.fromEntries(inner), later: LATER };
}

/** The places that have lost their unknown field. */
async function lostFrom(key: string, places: readonly Place[]): Promise<string[]> {
  const fields = unpackFields(await stores.redis.hgetall(key));
  const lost = places.filter(([name = '', ...path]) => {
    let value: unknown = JSON.parse(fields[name] ?? '{}');
    for (const step of path) value = Array.isArray(value) ? value[Number(step)] : storedObject.parse(value)[step];
    return JSON.stringify(storedObject.parse(value)['later']) !== LATER_TEXT;
  });
  return [...(fields['later'] === LATER_TEXT ? [] : ['the hash']), ...lost.map((place) => place.join(' > '))];
}

async function sendNext(ref: string): Promise<void> {
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
}

test('unknown fields of an open tow survive a fact and an attempt, at every depth', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', INVOICE);
  await sendNext('T1');
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');
  await stores.accept('tow_request', { ...towRequest('T1'), violation_reference_id: 'V-other' }, 'rival');
  await stores.process('rival');
  const places = await addUnknown(towKey('T1'));
  const names = places.map((place) => place.join(' > '));

  await stores.say('T1', { event: 'detained' });
  const refused = { id: 'detained-3', kind: 'detained', httpStatus: 400, message: null, hint: null } as const;
  const claimed = await mustClaim(stores.outbox, 'T1');
  await stores.outbox.settle(claimed, result({ next: 'refused', hint: null }, { task: refusedTask(refused) }));

  expect(names).toEqual(
    expect.arrayContaining([
      'meta',
      'head',
      'f1',
      'head > invoiceRequest',
      'head > invoiceWebhooks > 0',
      'head > rivalRequests > 0',
      'head > dispatch',
      'r1 > log > 0',
      'r2',
      'tasks > rival_request.T1',
      'tasks > rival_request.T1 > task',
      'e1',
    ]),
  );
  expect(await lostFrom(towKey('T1'), places)).toEqual([]);
});

test('unknown fields survive packing, unpacking and packing again', async () => {
  const key = towKey('T1');
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', { event: 'canceled', cancellationReason: 'wrong vehicle' });
  await sendNext('T1');
  const openPlaces = await addUnknown(key);
  await sendNext('T1');
  expect([await isPacked(key), await lostFrom(key, openPlaces)]).toEqual([true, []]);
  const places = await addUnknown(key);

  await stores.accept('tow_request', { ...towRequest('T1'), violation_reference_id: 'V-other' }, 'rival');
  await stores.process('rival');

  expect([await isPacked(key), await lostFrom(key, places)]).toEqual([false, []]);

  expect(await stores.resolve('rival_request.T1')).toBe('done');

  expect([await isPacked(key), await lostFrom(key, places)]).toEqual([true, []]);
});

test('a packed tow keeps its unknown fields when it changes and stays packed', async () => {
  const key = towKey('T1');
  await stores.request('T1');
  await stores.say('T1', { event: 'canceled', cancellationReason: 'wrong vehicle' });
  await sendNext('T1');
  const places = await addUnknown(key);

  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');

  expect((await stores.read('T1')).tow.invoiceWebhooks).toHaveLength(1);
  expect([await isPacked(key), await lostFrom(key, places)]).toEqual([true, []]);
});

test('unknown fields of a violation survive its attempt, its name and packing', async () => {
  const key = violationKey('U1');
  const outbox = openOutbox(stores);
  await reportViolations(stores, 'U1');
  const claimed = await mustClaimViolation(outbox, 'U1');
  await outbox.giveBack(claimed, { kind: 'images_unseen', delayMs: 0 });
  await stores.redis.hset(key, 'links', JSON.stringify({ references: [] }), 'run', JSON.stringify({ runAtMs: null }));
  const places = await addUnknown(key);
  expect(places.map((place) => place.join(' > '))).toEqual(
    expect.arrayContaining(['document', 'document > images > 0', 'r1', 'links', 'run']),
  );

  await outbox.settle(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));
  const { record } = await claimAs(outbox, 'U1', 'cleanup');
  await outbox.completeCleanup(record);

  expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'accepted', reference: 'V-1' });
  expect([await isPacked(key), await lostFrom(key, places)]).toEqual([true, []]);
});

test('unknown fields of an open circuit survive a failed probe', async () => {
  await setCircuit(stores.redis, 'outage', { failures: 1 });
  const circuits = storedObject.parse(JSON.parse((await stores.redis.hget(KEYS.circuits, 'circuits')) ?? ''));
  await stores.redis.hset(KEYS.circuits, 'circuits', JSON.stringify(withUnknown(circuits, ['circuits'], [])));

  await reportProbe(stores.records, { service: 'silent', delayMs: 1000 });

  const after = storedObject.parse(JSON.parse((await stores.redis.hget(KEYS.circuits, 'circuits')) ?? ''));
  expect(after).toMatchObject({ later: LATER, open: { outage: { failures: 2, later: LATER } } });
});
