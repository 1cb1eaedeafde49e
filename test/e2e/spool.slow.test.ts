import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { callsOf, FORM, openPatrol, picture } from './patrol';

jest.setTimeout(60_000);
const redis = useRedis();

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

test('a worker on another disk is not ready and hands a violation back until one that sees its images takes it', async () => {
  const { town, report, violation, tasks } = await openPatrol(redis.url, { worker: 'later' });
  const otherDisk = await mkdtemp(join(tmpdir(), 'towhook-other-disk-'));
  folders.push(otherDisk);
  const blind = await town.start('worker', { DATA_DIR: otherDisk });

  const { id } = await report(FORM, [picture(3000)]);
  await blind.logged('violation.images_unseen');
  const ready = await fetch(`${await blind.url('ops')}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { spool: 'foreign' }]);
  expect(await violation(id)).toMatchObject({ state: 'pending', attempts: 0 });

  await town.start('worker');
  await eventually(async () => expect((await violation(id)).state).toBe('accepted'), 30_000);
  expect(await callsOf(town, 'violation')).toHaveLength(1);
  expect(await tasks()).toEqual([]);
});

test('images that are gone from the shared disk are a question for a person, and nothing is sent', async () => {
  const { town, report, violation, tasks, post } = await openPatrol(redis.url, { worker: 'later' });
  const { id } = await report(FORM, [picture(3000)]);
  await rm(join(town.environment['DATA_DIR'] ?? '', 'spool', 'violations'), { recursive: true });
  await town.start('worker');

  await eventually(async () => expect(await tasks()).toMatchObject([{ type: 'images_missing', violation: { id } }]));
  expect((await post(`/violations/${id}/waive`, { reason: 'reported anew' })).status).toBe(202);
  await eventually(async () => expect((await violation(id)).state).toBe('waived'));
  expect(await callsOf(town, 'violation')).toEqual([]);
  expect(await tasks()).toEqual([]);
});

test('images leave the disk once the service has the violation', async () => {
  const { town, report, violation } = await openPatrol(redis.url);
  const { id } = await report(FORM, [picture(3000), picture(4000)]);
  await eventually(async () => expect((await violation(id)).state).toBe('accepted'));

  const image = `${town.environment['DATA_DIR'] ?? ''}/spool/violations/${id}`;
  await eventually(async () => await expect(readdir(image)).rejects.toMatchObject({ code: 'ENOENT' }));
});
