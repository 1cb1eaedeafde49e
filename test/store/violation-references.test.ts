import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import type { ViolationOutbox } from '../support/outboxes';
import { matchEarlierTows, matchTowsByMetadataId } from '../../src/workflow/violation/match-violation';
import { replaceImages } from '../../src/workflow/outbox/decide';
import type { SpoolPlace, Upload } from '../../src/workflow/ops/spool-port';
import { START, TESTER, useStores, UNKNOWN } from '../support/stores';
import {
  decide,
  idNamed,
  join,
  link,
  createAcceptedViolation,
  mustClaimViolation,
  openOutbox,
  outcome,
  readViolation,
  report,
  reportViolations,
  takenAs,
  violationOf,
} from '../support/violations';

let outbox: ViolationOutbox;
const stores = useStores();
beforeEach(() => {
  outbox = openOutbox(stores);
});

const tow = (name: string, reference: string) => ({ towingReference: name, reference });
const read = (id: string) => readViolation(stores, id);
const ownerOf = (reference: string) => idNamed(stores, reference);
const openTasks = () => stores.redis.hkeys(KEYS.tasks);

async function sentWithoutAnswer(id: string): Promise<void> {
  await reportViolations(stores, id);
  await outbox.settle(await mustClaimViolation(outbox, id), outcome(UNKNOWN));
}

/** A tow request as it comes in, by its names; returns what became of it. */
async function request(ref: string, reference: string, metadataId: string): Promise<string> {
  const body = { violation_reference_id: reference, towing_reference_id: ref, metadata: { id: metadataId } };
  await stores.accept('tow_request', body, `request-${ref}`);
  return stores.process(`request-${ref}`);
}

describe('violation with several references', () => {
  test('a violation is matched by each of its references, and a tow request with another than the shown one opens a task', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-a');
    await join(stores, 'U1', tow('TW-0', 'V-b'));

    expect(await request('TW-1', 'V-b', 'another id')).toBe('created');
    expect(await request('TW-2', 'V-a', 'own-U1')).toBe('created');

    expect((await read('U1')).references).toEqual(['V-a', 'V-b']);
    for (const ref of ['TW-1', 'TW-2']) expect((await stores.read(ref)).tow.violationId).toBe('U1');
    const task = { type: 'violation_twice', violation_id: 'U1', towing_reference_id: 'TW-1', actions: ['resolve'] };
    expect((await stores.read('TW-1')).tasks).toMatchObject([task]);
    expect((await stores.read('TW-1')).tasks[0]?.message).toMatch(/twice: as V-a, and as V-b,/);
    expect((await stores.read('TW-2')).tasks).toEqual([]);
  });

  test('a violation is matched by its metadata id although the service named another reference, and a task opens', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-a');

    expect(await request('TW-1', 'V-b', 'own-U1')).toBe('created');

    expect(await stores.read('TW-1')).toMatchObject({
      tow: { violationId: 'U1', plateNumber: violationOf('U1').form.plateNumber },
      tasks: [{ id: 'violation_twice.TW-1' }],
    });
    expect(await read('U1')).toMatchObject({ reference: 'V-a', tows: ['TW-1'] });
    expect(await ownerOf('V-b')).toBe('U1');
  });

  test('a request of an archived tow that names another violation reference opens a task about it too', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-a');
    await stores.redis.zadd(KEYS.archivedMarkers, Date.now(), 'TW-1');

    expect(await request('TW-1', 'V-b', 'own-U1')).toBe('late');

    expect(new Set(await openTasks())).toEqual(new Set(['late_request-request-TW-1.TW-1', 'violation_twice.TW-1']));
  });

  test('two references of a violation that arrive in turn for two concurrent tow requests open one task about one of the two', async () => {
    await sentWithoutAnswer('U1');

    await Promise.all([request('TW-1', 'V-a', 'own-U1'), request('TW-2', 'V-b', 'own-U1')]);

    expect(new Set((await read('U1')).references)).toEqual(new Set(['V-a', 'V-b']));
    expect(await openTasks()).toHaveLength(1);
  });

  test('a violation is matched to all tows that were requested under its references before it got them', async () => {
    await request('TW-1', 'V-a', 'x');
    await request('TW-2', 'V-b', 'x');
    await createAcceptedViolation(stores, 'U1', 'V-a');
    await join(stores, 'U1', tow('TW-0', 'V-b'));

    await matchEarlierTows(stores, await read('U1'));

    for (const ref of ['TW-1', 'TW-2']) expect((await stores.read(ref)).tow.violationId).toBe('U1');
    expect(await openTasks()).toEqual(['violation_twice.TW-2']);
  });

  test.each([' V-2', 'V-3 ', '\u3000V-4'])(
    'a violation is joined to its tow by the reference %j, with spaces around it as the service wrote them',
    async (reference) => {
      await request('TW-1', reference, 'x');
      await createAcceptedViolation(stores, 'U1', reference);

      await matchEarlierTows(stores, await read('U1'));

      expect((await stores.read('TW-1')).tow.violationId).toBe('U1');
    },
  );

  test('a violation with a number as its metadata id is matched to its tow behind 50 plates that begin so', async () => {
    for (let plate = 1201; plate <= 1250; plate += 1) {
      await stores.request(`TW-${plate}`);
      await stores.say(`TW-${plate}`, { ...START, plateNumber: `${plate} ABJ` });
    }
    await request('TW-1', 'V-1', '12');
    await report(stores, violationOf('U1', { metadata: { id: '12' } }));

    await matchTowsByMetadataId(stores, (await read('U1')).violation);

    expect((await stores.read('TW-1')).tow.violationId).toBe('U1');
    expect((await stores.read('TW-1201')).tow.violationId).toBeNull();
  });

  test('a violation is not matched to the tow of another violation that had the same reference first', async () => {
    await request('TW-1', 'V-1', 'x');
    await createAcceptedViolation(stores, 'U1', 'V-1');
    await createAcceptedViolation(stores, 'U2', 'V-1');

    await matchEarlierTows(stores, await read('U2'));
    expect((await stores.read('TW-1')).tow.violationId).toBeNull();
    await matchEarlierTows(stores, await read('U1'));
    expect((await stores.read('TW-1')).tow.violationId).toBe('U1');
  });
});

describe('names of two violations', () => {
  test('a tow request with the reference of one violation and the metadata id of another is matched by the reference, and a task names both', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-1');
    await reportViolations(stores, 'U2');

    expect(await request('TW-1', 'V-1', 'own-U2')).toBe('created');

    const { tow: requested, tasks } = await stores.read('TW-1');
    expect(requested.violationId).toBe('U1');
    expect(tasks).toMatchObject([{ id: 'violation_mismatch.TW-1', violation_id: 'U1', actions: ['resolve'] }]);
    expect(tasks[0]?.message).toMatch(/V-1 is the reference of U1, .* has the id of own-U2\./);
  });

  test('a tow request with a manually linked reference of one violation and the metadata id of another proves neither', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await request('TW-0', 'V-1', 'none');
    expect(await link(stores, 'U1', 'TW-0')).toBe('done');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(UNKNOWN));

    expect(await request('TW-1', 'V-1', 'own-U2')).toBe('created');

    expect(await read('U1')).toMatchObject({ state: 'unknown' });
    expect(await read('U2')).toMatchObject({ state: 'pending' });
  });

  test('a manual link closes the task about a tow request that names two violations', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-1');
    await reportViolations(stores, 'U2');
    await request('TW-1', 'V-1', 'own-U2');
    expect(await openTasks()).toEqual(['violation_mismatch.TW-1']);

    expect(await link(stores, 'U2', 'TW-1')).toBe('done');

    expect(await stores.read('TW-1')).toMatchObject({ tow: { violationId: 'U2' }, tasks: [] });
  });

  test('a tow that was requested before both of its violations were known is matched by the reference, with a task', async () => {
    await request('TW-1', 'V-1', 'own-U2');
    await reportViolations(stores, 'U2');
    await createAcceptedViolation(stores, 'U1', 'V-1');

    await matchEarlierTows(stores, await read('U1'));

    const tasks = [{ id: 'violation_mismatch.TW-1', violation_id: 'U1' }];
    expect(await stores.read('TW-1')).toMatchObject({ tow: { violationId: 'U1' }, tasks });
  });

  test('a reference in the answers to two violations stays with the first, and a task names both', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-1');
    await createAcceptedViolation(stores, 'U2', 'V-1');

    expect(await ownerOf('V-1')).toBe('U1');
    expect(await openTasks()).toEqual(['violation_mismatch.U2']);
    expect(await stores.redis.hget(KEYS.tasks, 'violation_mismatch.U2')).toContain('V-1, which is that of U1.');
  });

  test('an answer with the reference of a tow that was matched to another violation by its metadata id opens a task', async () => {
    await sentWithoutAnswer('U2');
    await reportViolations(stores, 'U1');
    await request('TW-1', 'V-1', 'own-U2');

    await outbox.settle(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));

    expect((await stores.read('TW-1')).tow.violationId).toBe('U2');
    expect(await openTasks()).toEqual(['violation_mismatch.U1']);
  });
});

describe('reference of another violation', () => {
  test('a reference that belongs to another violation matches no tow and proves no unknown violation', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-1');
    await sentWithoutAnswer('U2');

    await request('TW-1', 'V-1', 'own-U2');
    expect((await stores.read('TW-1')).tow.violationId).toBe('U1');
    expect(await link(stores, 'U2', 'TW-1')).toBe('done');

    expect(await read('U2')).toMatchObject({ state: 'unknown', reference: null, tows: ['TW-1'] });
    expect(await ownerOf('V-1')).toBe('U1');
  });

  test('manual acceptance with the reference of another violation is refused without effect', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-1');
    await sentWithoutAnswer('U2');
    const accepting = (reference: string) => ({ action: 'accept', reason: 'seen', reference }) as const;

    expect(await decide(stores, 'U2', accepting('V-1'))).toBe('reference_taken');
    expect((await read('U2')).state).toBe('unknown');
    expect(await decide(stores, 'U2', accepting('V-2'))).toBe('saved');
    expect(await ownerOf('V-2')).toBe('U2');
  });

  test('a reference linked manually moves to the violation whose answer contains it', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await request('TW-1', 'V-2', 'x');
    await link(stores, 'U1', 'TW-1');

    await outbox.settle(await mustClaimViolation(outbox, 'U2'), takenAs('V-2'));

    expect(await ownerOf('V-2')).toBe('U2');
    expect(await read('U1')).toMatchObject({ reference: null, references: [], tows: [] });
    expect((await read('U2')).tows).toEqual(['TW-1']);
  });
});

describe('manual link of a violation', () => {
  test('a manual link of an unsent violation proves nothing, and the reference in its answer becomes the shown one', async () => {
    await reportViolations(stores, 'U1');
    await request('TW-1', 'V-paper', 'x');
    await link(stores, 'U1', 'TW-1');
    expect(await read('U1')).toMatchObject({ state: 'pending', reference: 'V-paper' });

    await outbox.settle(await mustClaimViolation(outbox, 'U1'), takenAs('V-own'));

    expect(await read('U1')).toMatchObject({ reference: 'V-own', references: ['V-paper', 'V-own'] });
    for (const name of ['V-paper', 'V-own']) expect(await ownerOf(name)).toBe('U1');
  });

  test('a manual link from before the call does not prove the violation, but its echoed metadata id does', async () => {
    await reportViolations(stores, 'U1');
    await request('TW-1', 'V-paper', 'x');
    await link(stores, 'U1', 'TW-1');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(UNKNOWN));

    await request('TW-2', 'V-paper', 'x');
    expect((await read('U1')).state).toBe('unknown');
    await request('TW-3', 'V-own', 'own-U1');

    const proved = { state: 'accepted', acceptedHow: 'proved_by_tow_request', reference: 'V-own' };
    expect(await read('U1')).toMatchObject(proved);
  });

  test('a manual link of a violation whose answer was lost proves it', async () => {
    await sentWithoutAnswer('U1');
    await request('TW-1', 'V-1', 'x');
    await link(stores, 'U1', 'TW-1');

    expect(await read('U1')).toMatchObject({ state: 'accepted', reference: 'V-1', tows: ['TW-1'] });
  });

  test('a manual link to another violation moves the tow and the reference, and repeating it changes nothing', async () => {
    await reportViolations(stores, 'U8', 'U9');
    await request('TW-1', 'V-1', 'x');
    await link(stores, 'U8', 'TW-1');
    for (const answer of ['done', 'already_linked']) expect(await link(stores, 'U9', 'TW-1')).toBe(answer);

    expect(await read('U8')).toMatchObject({ reference: null, references: [], tows: [] });
    expect(await read('U9')).toMatchObject({ reference: 'V-1', references: ['V-1'], tows: ['TW-1'] });
    await request('TW-2', 'V-1', 'x');
    expect((await stores.read('TW-2')).tow.violationId).toBe('U9');
    expect(await link(stores, 'U7', 'TW-1')).toBe('field_invalid');
  });

  test('a manual link that moves a reference from another violation does not prove an unknown violation', async () => {
    await reportViolations(stores, 'U8');
    await request('TW-1', 'V-1', 'x');
    await link(stores, 'U8', 'TW-1');
    await sentWithoutAnswer('U9');
    await link(stores, 'U9', 'TW-1');

    expect(await read('U9')).toMatchObject({ state: 'unknown', references: ['V-1'], tows: ['TW-1'] });
  });

  test('a manual link moves the tow but not a reference that the service gave to another violation', async () => {
    await createAcceptedViolation(stores, 'U8', 'V-1');
    await request('TW-1', 'V-1', 'x');
    await reportViolations(stores, 'U9');
    await link(stores, 'U9', 'TW-1');

    expect(await read('U8')).toMatchObject({ reference: 'V-1', tows: [] });
    expect(await read('U9')).toMatchObject({ reference: null, tows: ['TW-1'] });
    expect(await ownerOf('V-1')).toBe('U8');
  });
});

test('other images of a violation never go to another violation that takes its metadata id meanwhile', async () => {
  const metadata = { id: 'case-1' };
  await report(stores, violationOf('U1', { metadata }));
  const kept: SpoolPlace[] = [];
  const takeBack = jest.fn(() => Promise.resolve());
  const upload: Upload = {
    write: () => Promise.reject(new Error('the images are on the disk already')),
    keep: async (place) => {
      kept.push(place);
      await decide(stores, 'U1', { action: 'waive', reason: 'reported by mistake' });
      await report(stores, violationOf('U2', { metadata }));
    },
    discard: () => Promise.resolve(),
    takeBack,
  };
  const image = { file: 'x.1', name: 'other.png', contentType: 'image/png', sizeBytes: 5, sha256: 'def' };
  const command = { action: 'correct', fields: {}, images: [image] } as const;
  const tools = { records: stores.records, violations: stores.violations, clock: systemClock };

  expect(await replaceImages(tools, { id: 'case-1', command, actor: TESTER, upload })).toMatchObject({
    kind: 'refused',
    refusal: { kind: 'conflict', code: 'violation_settled' },
  });

  expect(kept).toEqual([{ kind: 'violation', id: 'U1' }]);
  expect(takeBack).toHaveBeenCalledTimes(1);
  const other = await stores.violations.read('case-1');
  expect(other?.violation).toMatchObject({ id: 'U2', images: violationOf('U2').images });
  expect(other?.violation.replacedImages).toBeUndefined();
});
