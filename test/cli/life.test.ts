import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import request from 'supertest';
import { z } from 'zod';
import { towView } from '../../src/contracts/operator';
import { simulatorCalls } from '../../src/contracts/service/simulator';
import { violationView } from '../../src/contracts/violation/violations';
import { startFakeService } from '../service/fake-service';
import { startApp } from '../support/app';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { useRedis } from '../support/redis';
import { run, type ProgramRun } from './command';
import { useInstallation, useStopLater } from './installation';

const ZONE = '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f';
const FORM =
  `--plate-type PRIVATE --violation-type WRONG_PARKING --zone-id ${ZONE} --latitude 24.69 --longitude 46.68 --is-saudi true`
    .split(' ')
    .concat('--plate-number', 'ABJ 1235', '--location', 'Olaya Street');

function callsTo(installation: ReturnType<ReturnType<typeof useInstallation>>) {
  const { app, simulator } = installation;
  const towhook = (...words: readonly string[]) => run(words, { url: app.consoleUrl, apiKey: app.apiKey });
  return {
    towhook,
    /** Runs a command that must succeed and returns its parsed JSON output. */
    done: async <T>(contract: z.ZodType<T>, ...words: readonly string[]): Promise<T> =>
      contract.parse(working(await towhook(...words, '--json')).json()),
    operations: async (): Promise<string[]> => {
      const response = await request(simulator.url).get('/simulator/calls');
      return simulatorCalls.parse(response.body).items.map(({ operation }) => operation);
    },
  };
}

function working(result: ProgramRun): ProgramRun {
  if (result.exitCode !== 0) throw new Error(`ended with ${result.exitCode}: ${result.problems}`);
  return result;
}

describe('command line: violations on the reference path', () => {
  const installation = useInstallation();

  test('reports a violation with images and every step of its tow with the command line alone', async () => {
    const { done, towhook, operations } = callsTo(installation());
    const images = ['one.png', 'two.png'].map((name) => join(installation().folder, name));
    for (const file of images) await writeFile(file, Buffer.concat([PNG, randomBytes(5000)]));
    const damaged = join(installation().folder, 'damaged.png');
    await writeFile(damaged, PNG.subarray(0, -4));

    const made = await done(
      violationView,
      'violation',
      'create',
      ...FORM,
      '--metadata',
      '{"id": "patrol-1"}',
      '--image',
      ...images,
    );
    expect(made).toMatchObject({ metadata_id: 'patrol-1', form: { isSaudi: true, latitude: 24.69 } });
    expect(made.images.map(({ name }) => name)).toEqual(['one.png', 'two.png']);
    const ref = await eventually(async () => {
      const { towing_reference_ids: refs, state } = await done(violationView, 'violation', 'show', 'patrol-1');
      expect([state, refs.length]).toEqual(['accepted', 1]);
      return refs[0] ?? '';
    });

    for (const words of [
      ['tow', 'assign', ref, 'Crew 4', '--truck', 'T-12'],
      ['tow', 'step', ref, 'en_route'],
      ['tow', 'started', ref],
      ['tow', 'detained', ref],
      ['tow', 'yard', ref, 'North', '--slot', 'B7'],
      ['tow', 'note', ref, 'Owner calls back'],
      ['tow', 'photos', ref, '--image', ...images, damaged, '--accept-damaged-images'],
      ['tow', 'invoice', ref, '--vehicle-type', 'HEAVY'],
      ['tow', 'payment', ref, '--external-reference', 'receipt-1'],
      ['tow', 'released', ref],
    ]) {
      working(await towhook(...words));
    }
    const tow = await eventually(async () => {
      const found = await done(towView, 'tow', 'show', ref);
      expect(found.reports.map(({ kind, state }) => `${kind} ${state}`)).toEqual(
        ['started', 'detained', 'invoice', 'payment', 'released'].map((kind) => `${kind} accepted`),
      );
      return found;
    });
    expect(tow).toMatchObject({ plate_number: 'ABJ 1235', towed_location: 'Olaya Street', state: 'released' });
    expect(tow.dispatch).toMatchObject({
      assignment: { crew: 'Crew 4' },
      yard: { slot: 'B7' },
      steps: [{ step: 'en_route' }],
    });
    expect(tow.dispatch.photos).toHaveLength(3);
    expect(await operations()).toEqual(expect.arrayContaining(['violation', 'started', 'payment', 'released']));
    const seen = working(await towhook('tow', 'list', '--q', ref));
    expect(seen.out).toMatch(new RegExp(`${ref} +released +ABJ 1235`));
  });

  test('shows zone capacity and ticket state as the service answers them', async () => {
    const { done, operations } = callsTo(installation());
    const capacity = await done(z.object({ zoneId: z.string(), availableSlots: z.number() }), 'capacity', ZONE);
    const plate = ['--plate-number', 'ABJ 1235', '--plate-type', 'PRIVATE'];
    const ticket = await done(
      z.object({ hasActiveTicket: z.boolean() }),
      'ticket',
      'check',
      '--zone-id',
      ZONE,
      ...plate,
    );

    expect(capacity.zoneId).toBe(ZONE);
    expect(typeof ticket.hasActiveTicket).toBe('boolean');
    expect(await operations()).toEqual(expect.arrayContaining(['token', 'capacity', 'ticket']));
  });

  test('downloads a tow photo byte for byte', async () => {
    const { done, towhook } = callsTo(installation());
    const { items } = await done(z.object({ items: z.array(towView) }), 'tow', 'list');
    const tow = items.find(({ dispatch }) => dispatch.photos.length > 0);
    const file = join(installation().folder, 'downloaded.png');
    const photo = tow?.dispatch.photos[0];
    const { out } = working(
      await towhook('tow', 'photo', tow?.towing_reference_id ?? '', photo?.id ?? '', '--output', file),
    );
    expect(out).toContain(`${photo?.size_bytes} bytes`);
    const sent = await readFile(join(installation().folder, photo?.name ?? ''));
    expect(sent.equals(await readFile(file))).toBe(true);
  });
});

describe('command line: violations on the integration guide path', () => {
  const installation = useInstallation({ VIOLATION_API: 'guide' });

  test('creates a violation on the integration guide path and shows its id and whether it may be towed', async () => {
    const { done, towhook, operations } = callsTo(installation());
    const { id } = await done(violationView, 'violation', 'create', ...FORM);
    await eventually(async () => {
      const found = await done(violationView, 'violation', 'show', id);
      expect(found.state).toBe('accepted');
      expect(typeof found.can_tow).toBe('boolean');
    });
    expect(await operations()).toContain('violation_guide');
    expect(working(await towhook('violation', 'show', id)).out).toMatch(/^can tow: +(yes|no)$/m);
  });
});

const redis = useRedis();
const stopLater = useStopLater();

test('towhook violation create has the metadata sent to the service exactly as entered', async () => {
  const service = stopLater(await startFakeService());
  const app = stopLater(await startApp({ redisUrl: redis.url, environment: { SERVICE_BASE_URL: service.url } }));
  const entered = '{"id": "patrol-2", "serial": 12345678901234567890, "fee": 1.10}';

  const words = ['violation', 'create', ...FORM, '--metadata', entered];
  expect(await run(words, { url: app.consoleUrl, apiKey: app.apiKey })).toMatchObject({ exitCode: 0, problems: '' });

  const form = await eventually(() => {
    const [call] = service.calls;
    if (call === undefined) throw new Error('the violation was not sent yet');
    return call.body.toString();
  });
  expect(form).toContain(`name="metadata"\r\n\r\n${entered}\r\n`);
});
