import { personActor } from '../../src/domain/audit';
import { createApiKeyStore } from '../../src/store/api-keys';
import { auditEntryOf } from '../support/audit';
import { auditOfAll, codeOf, person, previewed, refusedReports, runIn, timesDecided, useBulkWorld } from './bulk-world';

const world = useBulkWorld();

describe('rights on a bulk run', () => {
  it('only the person who previewed a run or ops may start it, and the starter is the one who decides', async () => {
    world.worker();
    const task_ids = await refusedReports(world, 2);
    const [who, colleague, chief] = [
      await person(world, 'dispatcher'),
      await person(world, 'dispatcher'),
      await person(world, 'ops'),
    ];
    const bulk = world.console();
    const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
    expect(await codeOf(bulk.start(id, colleague))).toBe('role_not_allowed');
    expect((await bulk.read(id))?.state).toBe('previewed');
    expect(await codeOf(bulk.start(id, chief))).toBe('ok');
    expect(await runIn(bulk, id, 'done')).toMatchObject({ by: who, runBy: chief });
    const entries = (await auditOfAll(world)).filter(({ action }) => action === 'report.retried');
    expect(entries.map(({ by_id }) => by_id)).toEqual([chief.id, chief.id]);
  });

  it('the audit contains the start of a run once, with the number of tasks it decides', async () => {
    world.worker();
    const task_ids = await refusedReports(world, 2);
    const who = await person(world, 'dispatcher');
    const bulk = world.console();
    const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'phone call' }, who);
    const starts = await Promise.all([codeOf(bulk.start(id, who)), codeOf(world.console().start(id, who))]);
    expect(starts.filter((code) => code === 'ok')).toHaveLength(1);
    await runIn(bulk, id, 'done');
    expect(await codeOf(bulk.start(id, who))).toBe('bulk_done');
    const entries = (await auditOfAll(world)).filter(({ action }) => action.startsWith('bulk.'));
    const what = { bulk_id: id, bulk_action: 'waive', task_count: 2 };
    const actor = who;
    expect(entries).toEqual([
      {
        action: 'bulk.started',
        by: actor.name,
        by_id: actor.id,
        role: 'dispatcher',
        on: {},
        why: 'phone call',
        what,
      },
    ]);
  });

  it('a run of a person who signed in through the identity provider is decided with their name and role', async () => {
    world.worker();
    const task_ids = await refusedReports(world, 2);
    const who = personActor({ subject: 'u-4711', name: 'Layla Haddad', role: 'dispatcher' });
    const bulk = world.console();
    const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
    expect(await codeOf(bulk.start(id, who))).toBe('ok');
    await runIn(bulk, id, 'done');
    const entries = (await auditOfAll(world)).filter(({ action }) => action === 'report.retried');
    expect(entries.map(({ by, by_id, role }) => ({ name: by, id: by_id, role }))).toEqual([who, who]);
  });

  it('a run is interrupted when the API key of the person who started it is revoked, and ops can resume it', async () => {
    const task_ids = await refusedReports(world, 6);
    const [who, chief] = [await person(world, 'dispatcher'), await person(world, 'ops')];
    const { api } = world.parts();
    let decided = 0;
    world.worker({
      api: {
        ...api,
        call: async (route, call) => {
          const answer = await api.call(route, call);
          decided += 1;
          if (decided === 2) {
            await createApiKeyStore(world.foundation.redis).revoke(who.id, auditEntryOf('key.revoked'));
          }
          return answer;
        },
      },
    });
    const bulk = world.console();
    const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
    await bulk.start(id, who);
    const run = await runIn(bulk, id, 'interrupted');
    expect(run.counts).toMatchObject({ done: 2, waiting: 4 });
    expect(await codeOf(bulk.resume(id, await person(world, 'dispatcher')))).toBe('role_not_allowed');
    expect(await codeOf(bulk.resume(id, chief))).toBe('ok');
    await runIn(bulk, id, 'done');
    expect(await timesDecided(world, task_ids, 'report.retried')).toEqual(task_ids.map(() => 1));
  });
});
