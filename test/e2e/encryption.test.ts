import { ARCHIVE_LOCK } from '../../src/archive/archiver';
import { verifyArchive } from '../../src/archive/read';
import type { ArchivedType } from '../../src/contracts/ops/archive';
import { createOperatorClient } from '../../src/demo/client';
import { dataKeysCheck } from '../../src/main/data-keys';
import { openFoundation } from '../../src/main/foundation';
import { startRetention } from '../../src/main/worker';
import { loadConfig } from '../../src/platform/config/config';
import { silentLog } from '../../src/platform/log/log';
import { lockKey } from '../../src/store/keys';
import { createTowStore } from '../../src/store/tow/tows';
import { createViolationStore } from '../../src/store/violation/violations';
import { idsIn } from '../archive/folder';
import { dataKeysText, useDataKeysFile } from '../support/data-keys';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown, type Town } from '../support/town';
import { textOfFiles } from '../support/whole-disk';
import { textOfRedis } from '../support/whole-redis';
import { createPatrol, FORM, picture, sha256 } from './patrol';
import { callsOf, requestTow, setFaults } from './simulator-control';

const redis = useRedis();
const keysFile = useDataKeysFile();

/** Personal data that reaches towhook in each way: form, metadata, fact, correction, note, webhook, words of the service. */
const METADATA = { id: 'case-77', driver: 'Nasser Alharbi', phone: '0509876543' };
const CORRECTED = 'KSA 4411';
const PERSONAL = {
  plate: FORM.plateNumber,
  'indexed plate': 'abj1235',
  place: FORM.location,
  latitude: FORM.latitude,
  name: FORM.fullName,
  identity: FORM.identityNumber,
  mobile: FORM.mobileNumber,
  supervisor: FORM.supervisorIdentityNumber,
  'name in metadata': METADATA.driver,
  'phone in metadata': METADATA.phone,
  'corrected plate': CORRECTED,
  'indexed corrected plate': 'ksa4411',
  'words of the service': 'the car of Salem Alotaibi',
  'call on another path': 'Majed Alqahtani',
  'webhook that breaks its contract': 'Fahad Alshehri',
  'photo of a tow': 'seen by Turki Aldosari',
};
const IMAGE = picture(20_000);
const PHOTO = Buffer.concat([picture(100_000), Buffer.from(PERSONAL['photo of a tow'])]);

/** A violation, its tow with a corrected report until it is over, and webhooks that cannot be processed. */
async function runMainJob(town: Town, environment: Readonly<Record<string, string>>) {
  const app = await town.startInProcess({ VIOLATION_TICKET_CHECK: 'true', ...environment });
  const { report, violation, tow, tasks, post } = createPatrol(app.consoleUrl);
  const client = createOperatorClient(app.consoleUrl, API_KEY);
  const images = [IMAGE];
  await setFaults(town, [{ operation: 'started', fault: '400', message: PERSONAL['words of the service'], times: 1 }]);

  const { id } = await report({ ...FORM, metadata: JSON.stringify(METADATA) }, images);
  const { violation_reference_id: violationReference } = await eventually(async () => {
    const found = await violation(id);
    expect(found.state).toBe('accepted');
    return found;
  });
  const ref = await requestTow(town, { violation_reference_id: violationReference, metadata: METADATA });
  await eventually(async () => expect(await tow(ref)).toMatchObject({ plate_number: FORM.plateNumber }));
  expect((await post(`/tows/${ref}/started`)).status).toBe(202);
  await eventually(async () => expect(await tasks()).toMatchObject([{ type: 'report_refused' }]));
  const whileRefused = await textOfRedis(redis.url);
  const reportId = (await tow(ref)).reports[0]?.id ?? '';
  await post(`/tows/${ref}/reports/${reportId}/correct`, { plate_number: CORRECTED });
  await eventually(async () => expect((await tow(ref)).reports[0]?.state).toBe('accepted'));

  const photos = new FormData();
  photos.append('images', new Blob([new Uint8Array(PHOTO)], { type: 'image/png' }), 'front.png');
  const headers = { authorization: `Bearer ${API_KEY}` };
  const photosUrl = `${app.consoleUrl}/api/tows/${ref}/photos`;
  expect((await fetch(photosUrl, { method: 'POST', headers, body: photos })).status).toBe(202);

  const deliver = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return (await fetch(`${app.receiverUrl}${path}`, init)).status;
  };
  await deliver('/elsewhere', { name: PERSONAL['call on another path'] });
  const broken = { towing_reference_id: 'T-broken', violation_reference_id: 7, by: 'Fahad Alshehri' };
  expect(await deliver('/tow-request', broken)).toBe(200);
  await client.recordFact(ref, 'detained', {});
  await client.recordFact(ref, 'canceled', { cancellation_reason: 'moved by its owner' });
  await eventually(async () => expect((await tow(ref)).reports.map(({ state }) => state)).not.toContain('pending'));
  await eventually(async () => expect(await callsOf(town, 'canceled')).toHaveLength(1));
  return {
    app,
    ref,
    id,
    client,
    ...createPatrol(app.consoleUrl),
    stored: [whileRefused, await textOfRedis(redis.url), await textOfFiles(app.foundation.config.dataDir)].join('\n'),
  };
}

/** Ends the process, and moves what is over to the archive, as another process does after the retention time. */
async function archiveAll(town: Town, { app, ref, id }: Awaited<ReturnType<typeof runMainJob>>, environment = {}) {
  await app.stop();
  const keep = { KEEP_TOWS_HOURS: '0', KEEP_VIOLATIONS_HOURS: '0', KEEP_DELIVERIES_HOURS: '0', KEEP_AUDIT_HOURS: '0' };
  const config = loadConfig({ ...town.environment, ...environment, ...keep });
  const foundation = await openFoundation({ config, log: silentLog });
  try {
    const { redis, dataKeys } = foundation;
    // A process that could not release its lock in time on a busy machine leaves it for minutes.
    await redis.del(lockKey(ARCHIVE_LOCK));
    startRetention(foundation, 20);
    await eventually(async () => {
      expect(await createTowStore(redis).read(ref)).toBeNull();
      expect(await createViolationStore(redis).read(id)).toBeNull();
    });
    const archived = (type: ArchivedType) => idsIn(config.dataDir, { keys: dataKeys, type });
    expect([await archived('tow'), await archived('violation')]).toEqual([[ref], [id]]);
    await eventually(async () => expect(await archived('audit')).not.toEqual([]));
    return { text: await textOfFiles(config.dataDir), report: await verifyArchive(config.dataDir) };
  } finally {
    await foundation.resources.closeAll();
  }
}

const foundIn = (stored: string) =>
  Object.entries(PERSONAL).flatMap(([name, text]) => (stored.includes(text) ? name : []));

test('without data keys Redis, DATA_DIR and its archive hold every piece of personal data of the main job in the plain', async () => {
  const town = await buildTown(redis.url);
  const done = await runMainJob(town, {});
  expect(foundIn(done.stored)).toEqual(Object.keys(PERSONAL));
  const { text } = await archiveAll(town, done);
  const elsewhere = ['indexed plate', 'indexed corrected plate', 'call on another path'];
  expect(foundIn(text)).toEqual(Object.keys(PERSONAL).filter((name) => !elsewhere.includes(name)));
});

test('with data keys Redis, DATA_DIR and its archive hold no piece of personal data of the main job, and everything can be read', async () => {
  await keysFile.write(dataKeysText('a'));
  const town = await buildTown(redis.url);
  const environment = { DATA_KEYS_FILE: keysFile.path };
  const done = await runMainJob(town, environment);
  const { stored, app, ref, id, tow, violation } = done;

  expect(foundIn(stored)).toEqual([]);
  // Another process would lack both keys.
  const lacking = dataKeysCheck({ redis: app.foundation.redis, dataKeys: null });
  await eventually(async () =>
    expect(await lacking()).toEqual({ ready: true, details: { missing_data_keys: ['a', 'search'] } }),
  );
  expect(await tow(ref)).toMatchObject({ plate_number: CORRECTED, metadata: METADATA, state: 'canceled' });
  expect(await violation(id)).toMatchObject({ form: { plateNumber: FORM.plateNumber, fullName: FORM.fullName } });
  const [photo] = (await tow(ref)).dispatch.photos;
  const headers = { authorization: `Bearer ${API_KEY}` };
  const seen = await fetch(`${app.consoleUrl}/api/tows/${ref}/photos/${photo?.id}`, { headers });
  expect(Buffer.from(await seen.arrayBuffer()).equals(PHOTO)).toBe(true);
  const [sent] = await callsOf(town, 'violation');
  expect(sent?.body?.['images']).toMatchObject([{ sha256: sha256(IMAGE) }]);
  const search = async (words: string) => {
    return (await fetch(`${app.consoleUrl}/api/tows?q=${encodeURIComponent(words)}`, { headers })).text();
  };
  for (const words of [CORRECTED, 'ksa4411', FORM.plateNumber, ref.slice(0, 8)])
    expect(await search(words)).toContain(ref);
  // A plate is found as a whole only.
  expect(await search('KSA 44')).not.toContain(ref);

  const { text, report } = await archiveAll(town, done, environment);
  expect(foundIn(text)).toEqual([]);
  expect(report).toMatchObject({ records: { tow: 1, violation: 1 }, broken: [] });
  expect(Object.keys(report.unopened)).toEqual(['a']);
});
