import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { createPatrol, FORM, picture } from './patrol';
import { callsOf } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

/** A receiver and a console; the tests start the workers. */
async function openTown() {
  const town = await buildTown(redis.url);
  const [console] = await Promise.all([town.start('console'), town.start('receiver')]);
  return { town, ...createPatrol(await console.url('console')) };
}

test('a worker on another disk is not ready and leaves a violation with images to a worker on the shared disk', async () => {
  const { town, report, violation, tasks } = await openTown();
  const otherDisk = await mkdtemp(join(tmpdir(), 'towhook-other-disk-'));
  folders.push(otherDisk);
  const otherWorker = await town.start('worker', { DATA_DIR: otherDisk });

  const { id } = await report(FORM, [picture(3000)]);
  await otherWorker.logged('violation.images_unseen');
  await eventually(async () => {
    const ready = await fetch(`${await otherWorker.url('ops')}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { spool: 'foreign' }]);
  });
  expect(await violation(id)).toMatchObject({ state: 'pending', attempts: 0 });

  await town.start('worker');
  const isAccepted = async () => (await violation(id)).state === 'accepted';
  const handBacks = () => otherWorker.log.filter(({ message }) => message === 'violation.images_unseen').length;
  // Both workers ask for the violation, and chance decides which of them gets it. Each time it is handed back.
  await eventually(async () => expect((await isAccepted()) || handBacks() >= 3).toBe(true), 120_000);
  otherWorker.kill('SIGTERM');
  await eventually(async () => expect(await isAccepted()).toBe(true), 120_000);
  expect(await callsOf(town, 'violation')).toHaveLength(1);
  expect(await tasks()).toEqual([]);
});

test('a violation whose images are missing from the shared disk is not sent and opens a task', async () => {
  const { town, report, violation, tasks, post } = await openTown();
  const { id } = await report(FORM, [picture(3000)]);
  await rm(join(town.environment['DATA_DIR'] ?? '', 'spool', 'violations'), { recursive: true });
  await town.start('worker');

  await eventually(async () => expect(await tasks()).toMatchObject([{ type: 'images_missing', violation: { id } }]));
  expect((await post(`/violations/${id}/waive`, { reason: 'reported again' })).status).toBe(202);
  await eventually(async () => expect((await violation(id)).state).toBe('waived'));
  expect(await callsOf(town, 'violation')).toEqual([]);
  expect(await tasks()).toEqual([]);
});

test('the images of a violation are deleted from the disk once the service has accepted it', async () => {
  const { town, report, violation } = await openTown();
  await town.start('worker');
  const { id } = await report(FORM, [picture(3000), picture(4000)]);
  await eventually(async () => expect((await violation(id)).state).toBe('accepted'));

  const folder = `${town.environment['DATA_DIR'] ?? ''}/spool/violations/${id}`;
  await eventually(async () => await expect(readdir(folder)).rejects.toMatchObject({ code: 'ENOENT' }));
});
