import { createApiKeyStore } from '../../src/store/api-keys';
import { entryOf } from '../support/audit';
import { auditOfAll, codeOf, person, previewed, refusedReports, runIn, timesDecided, useBulkWorld } from './bulk-world';

const world = useBulkWorld();

describe("a run is somebody's", () => {
  it('only whoever previewed it may start it, or ops, who then is the one who decides', async () => {
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
    expect(await runIn(bulk, id, 'done')).toMatchObject({ by: who.actor, runBy: chief.actor });
    const entries = (await auditOfAll(world)).filter(({ action }) => action === 'report.retried');
    expect(entries.map(({ by_id }) => by_id)).toEqual([chief.actor.id, chief.actor.id]);
  });

  it('its start is in the audit once, with what it is about to do', async () => {
    const task_ids = await refusedReports(world, 2);
    const who = await person(world, 'dispatcher');
    const bulk = world.console();
    const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'told by phone' }, who);
    const starts = await Promise.all([codeOf(bulk.start(id, who)), codeOf(world.console().start(id, who))]);
    expect(starts.filter((code) => code === 'ok')).toHaveLength(1);
    await runIn(bulk, id, 'done');
    expect(await codeOf(bulk.start(id, who))).toBe('bulk_done');
    const entries = (await auditOfAll(world)).filter(({ action }) => action.startsWith('bulk.'));
    const what = { bulk_id: id, bulk_action: 'waive', task_count: 2 };
    const { actor } = who;
    expect(entries).toEqual([
      {
        action: 'bulk.started',
        by: actor.name,
        by_id: actor.id,
        role: 'dispatcher',
        on: {},
        why: 'told by phone',
        what,
      },
    ]);
  });

  it('stops once the key is revoked of whoever let it run; ops can let it go on', async () => {
    const task_ids = await refusedReports(world, 6);
    const [who, chief] = [await person(world, 'dispatcher'), await person(world, 'ops')];
    const parts = world.parts();
    let decided = 0;
    const bulk = world.console({
      lanes: { ...parts.lanes, lanes: 1 },
      api: {
        ...parts.api,
        call: async (route, call) => {
          const answer = await parts.api.call(route, call);
          decided += 1;
          if (decided === 2) {
            await createApiKeyStore(world.foundation.redis).revoke(who.actor.id, entryOf('key.revoked'));
          }
          return answer;
        },
      },
    });
    const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
    await bulk.start(id, who);
    const run = await runIn(bulk, id, 'interrupted');
    expect(run).toMatchObject({ interruption: 'key_ended', counts: { done: 2, waiting: 4 } });
    expect(await codeOf(world.console().resume(id, chief))).toBe('ok');
    await runIn(bulk, id, 'done');
    expect(await timesDecided(world, task_ids, 'report.retried')).toEqual(task_ids.map(() => 1));
  });

  it('the key and its hash are nowhere in what is kept of a run', async () => {
    const who = await person(world, 'dispatcher');
    const bulk = world.console();
    const { id } = await previewed(bulk, { action: 'retry', task_ids: await refusedReports(world, 1) }, who);
    await bulk.start(id, who);
    await runIn(bulk, id, 'done');
    const { redis } = world.foundation;
    const kept = await Promise.all([redis.hgetall(`{p0}:bulk:${id}`), redis.hgetall(`{p0}:bulk-items:${id}`)]);
    expect(Object.keys(kept[0])).toContain('document');
    expect(JSON.stringify(kept)).not.toContain(who.keyHash);
  });
});
