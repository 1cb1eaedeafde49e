import { KEYS } from '../../src/store/keys';
import type { ViolationOutbox } from '../support/outboxes';
import { joinTows } from '../../src/workflow/join';
import { useRedis } from '../support/redis';
import { openStores, UNKNOWN, type Stores } from '../support/stores';
import {
  decide,
  idNamed,
  join,
  link,
  liveAndBeAccepted,
  mustClaimViolation,
  openOutbox,
  outcome,
  readViolation,
  reportViolations,
  takenAs,
  violationOf,
} from '../support/violations';

const redis = useRedis();
let stores: Stores;
let outbox: ViolationOutbox;
beforeEach(async () => {
  stores = await openStores(redis.url);
  outbox = openOutbox(stores);
});
afterEach(() => stores.close());

const tow = (name: string, reference: string) => ({ towingReference: name, reference });
const read = (id: string) => readViolation(stores, id);
const ownerOf = (reference: string) => idNamed(stores, reference);
const openTasks = () => stores.redis.hkeys(KEYS.tasks);

async function sentWithoutAnswer(id: string): Promise<void> {
  await reportViolations(stores, id);
  await outbox.ack(await mustClaimViolation(outbox, id), outcome(UNKNOWN));
}

/** A tow request as it comes in, by its names; returns what became of it. */
async function request(ref: string, reference: string, metadataId: string): Promise<string> {
  const body = { violation_reference_id: reference, towing_reference_id: ref, metadata: { id: metadataId } };
  await stores.accept('tow_request', body, `request-${ref}`);
  return stores.process(`request-${ref}`);
}

describe('a violation of several names', () => {
  test('is joined by each of them; a tow request by any but the one it is shown under asks a person', async () => {
    await liveAndBeAccepted(stores, 'U1', 'V-a');
    await join(stores, 'U1', tow('TW-0', 'V-b'));

    expect(await request('TW-1', 'V-b', 'somebody else')).toBe('created');
    expect(await request('TW-2', 'V-a', 'own-U1')).toBe('created');

    expect((await read('U1')).references).toEqual(['V-a', 'V-b']);
    for (const ref of ['TW-1', 'TW-2']) expect((await stores.read(ref)).tow.violationId).toBe('U1');
    const task = { type: 'violation_twice', violation_id: 'U1', towing_reference_id: 'TW-1', actions: ['resolve'] };
    expect((await stores.read('TW-1')).tasks).toMatchObject([task]);
    expect((await stores.read('TW-1')).tasks[0]?.message).toMatch(/twice: as V-a, and as V-b,/);
    expect((await stores.read('TW-2')).tasks).toEqual([]);
  });

  test('is joined by our id in the metadata although the service has told another name, and a person is asked', async () => {
    await liveAndBeAccepted(stores, 'U1', 'V-a');

    expect(await request('TW-1', 'V-b', 'own-U1')).toBe('created');

    expect(await stores.read('TW-1')).toMatchObject({
      tow: { violationId: 'U1', plateNumber: violationOf('U1').form.plateNumber },
      tasks: [{ id: 'violation_twice.TW-1' }],
    });
    expect(await read('U1')).toMatchObject({ reference: 'V-a', towingReferenceIds: ['TW-1'] });
    expect(await ownerOf('V-b')).toBe('U1');
  });

  test('that were told one after another to two tow requests at once asks a person once, for one of the two', async () => {
    await sentWithoutAnswer('U1');

    await Promise.all([request('TW-1', 'V-a', 'own-U1'), request('TW-2', 'V-b', 'own-U1')]);

    expect(new Set((await read('U1')).references)).toEqual(new Set(['V-a', 'V-b']));
    expect(await openTasks()).toHaveLength(1);
  });

  test('joins the tows of all of them that were requested before it had them', async () => {
    await request('TW-1', 'V-a', 'x');
    await request('TW-2', 'V-b', 'x');
    await liveAndBeAccepted(stores, 'U1', 'V-a');
    await join(stores, 'U1', tow('TW-0', 'V-b'));

    await joinTows(stores, await read('U1'));

    for (const ref of ['TW-1', 'TW-2']) expect((await stores.read(ref)).tow.violationId).toBe('U1');
    expect(await openTasks()).toEqual(['violation_twice.TW-2']);
  });

  test('does not join the tow of another violation that had one of them first', async () => {
    await request('TW-1', 'V-1', 'x');
    await liveAndBeAccepted(stores, 'U1', 'V-1');
    await liveAndBeAccepted(stores, 'U2', 'V-1');

    await joinTows(stores, await read('U2'));
    expect((await stores.read('TW-1')).tow.violationId).toBeNull();
    await joinTows(stores, await read('U1'));
    expect((await stores.read('TW-1')).tow.violationId).toBe('U1');
  });
});

describe('a name that another violation has', () => {
  test('proves nothing: no tow of it is joined, and what is unknown stays so', async () => {
    await liveAndBeAccepted(stores, 'U1', 'V-1');
    await sentWithoutAnswer('U2');

    await request('TW-1', 'V-1', 'own-U2');
    expect((await stores.read('TW-1')).tow.violationId).toBe('U1');
    expect(await link(stores, 'U2', 'TW-1')).toBe('done');

    expect(await read('U2')).toMatchObject({ state: 'unknown', reference: null, towingReferenceIds: ['TW-1'] });
    expect(await ownerOf('V-1')).toBe('U1');
  });

  test('is not given to one that a person takes as accepted, and nothing is decided', async () => {
    await liveAndBeAccepted(stores, 'U1', 'V-1');
    await sentWithoutAnswer('U2');
    const accepting = (reference: string) => ({ action: 'accept', reason: 'seen', reference }) as const;

    expect(await decide(stores, 'U2', accepting('V-1'))).toBe('reference_taken');
    expect((await read('U2')).state).toBe('unknown');
    expect(await decide(stores, 'U2', accepting('V-2'))).toBe('saved');
    expect(await ownerOf('V-2')).toBe('U2');
  });

  test("by a person's link goes to the one whose answer tells it", async () => {
    await reportViolations(stores, 'U1', 'U2');
    await request('TW-1', 'V-2', 'x');
    await link(stores, 'U1', 'TW-1');

    await outbox.ack(await mustClaimViolation(outbox, 'U2'), takenAs('V-2'));

    expect(await ownerOf('V-2')).toBe('U2');
    expect(await read('U1')).toMatchObject({ reference: null, references: [], towingReferenceIds: ['TW-1'] });
  });
});

describe('a link by hand', () => {
  test('of a violation that was never sent proves nothing, and the name its answer tells is the one it is shown under', async () => {
    await reportViolations(stores, 'U1');
    await request('TW-1', 'V-paper', 'x');
    await link(stores, 'U1', 'TW-1');
    expect(await read('U1')).toMatchObject({ state: 'pending', reference: 'V-paper' });

    await outbox.ack(await mustClaimViolation(outbox, 'U1'), takenAs('V-own'));

    expect(await read('U1')).toMatchObject({ reference: 'V-own', references: ['V-paper', 'V-own'] });
    for (const name of ['V-paper', 'V-own']) expect(await ownerOf(name)).toBe('U1');
  });

  test('from before it was sent is no proof of what was sent since; the id that the service echoes is', async () => {
    await reportViolations(stores, 'U1');
    await request('TW-1', 'V-paper', 'x');
    await link(stores, 'U1', 'TW-1');
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), outcome(UNKNOWN));

    await request('TW-2', 'V-paper', 'x');
    expect((await read('U1')).state).toBe('unknown');
    await request('TW-3', 'V-own', 'own-U1');

    const proved = { state: 'accepted', acceptedHow: 'proved_by_tow_request', reference: 'V-own' };
    expect(await read('U1')).toMatchObject(proved);
  });

  test('of one whose answer was lost is the proof that the service has it', async () => {
    await sentWithoutAnswer('U1');
    await request('TW-1', 'V-1', 'x');
    await link(stores, 'U1', 'TW-1');

    expect(await read('U1')).toMatchObject({ state: 'accepted', reference: 'V-1', towingReferenceIds: ['TW-1'] });
  });

  test('made again for another violation takes tow and name along; twice is once', async () => {
    await reportViolations(stores, 'U8', 'U9');
    await request('TW-1', 'V-1', 'x');
    await link(stores, 'U8', 'TW-1');
    for (const answer of ['done', 'already_linked']) expect(await link(stores, 'U9', 'TW-1')).toBe(answer);

    expect(await read('U8')).toMatchObject({ reference: null, references: [], towingReferenceIds: [] });
    expect(await read('U9')).toMatchObject({ reference: 'V-1', references: ['V-1'], towingReferenceIds: ['TW-1'] });
    await request('TW-2', 'V-1', 'x');
    expect((await stores.read('TW-2')).tow.violationId).toBe('U9');
    expect(await link(stores, 'U7', 'TW-1')).toBe('field_invalid');
  });

  test('that takes a name from another violation proves nothing of an unknown one', async () => {
    await reportViolations(stores, 'U8');
    await request('TW-1', 'V-1', 'x');
    await link(stores, 'U8', 'TW-1');
    await sentWithoutAnswer('U9');
    await link(stores, 'U9', 'TW-1');

    expect(await read('U9')).toMatchObject({ state: 'unknown', references: ['V-1'], towingReferenceIds: ['TW-1'] });
  });

  test('takes the tow but not the name that the service itself told of another violation', async () => {
    await liveAndBeAccepted(stores, 'U8', 'V-1');
    await request('TW-1', 'V-1', 'x');
    await reportViolations(stores, 'U9');
    await link(stores, 'U9', 'TW-1');

    expect(await read('U8')).toMatchObject({ reference: 'V-1', towingReferenceIds: [] });
    expect(await read('U9')).toMatchObject({ reference: null, towingReferenceIds: ['TW-1'] });
    expect(await ownerOf('V-1')).toBe('U8');
  });
});
