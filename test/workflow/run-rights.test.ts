import { personActor } from '../../src/domain/ops/audit';
import { createApiKeyStore } from '../../src/store/person/api-keys';
import { auditEntryOf } from '../support/audit';
import { auditOfAll, codeOf, person, previewed, refusedReports, runIn, timesDecided, useRunWorld } from './run-world';

const world = useRunWorld();

describe('rights on a run', () => {
  it('only the person who previewed a run or ops may start it, and the starter is the one who decides', async () => {
    world.worker();
    const task_ids = await refusedReports(world, 2);
    const [who, colleague, chief] = [
      await person(world, 'dispatcher'),
      await person(world, 'dispatcher'),
      await person(world, 'ops'),
    ];
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'retry', task_ids }, who);
    expect(await codeOf(runs.start(id, colleague))).toBe('role_not_allowed');
    expect((await runs.read(id))?.state).toBe('previewed');
    expect(await codeOf(runs.start(id, chief))).toBe('done');
    expect(await runIn(runs, id, 'done')).toMatchObject({ by: who.name, started_by: chief.name });
    const entries = (await auditOfAll(world)).filter(({ action }) => action === 'report.retried');
    expect(entries.map(({ by_id }) => by_id)).toEqual([chief.id, chief.id]);
  });

  it('the audit contains the start of a run once, with the number of tasks it decides', async () => {
    world.worker();
    const task_ids = await refusedReports(world, 2);
    const who = await person(world, 'dispatcher');
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'waive', task_ids, reason: 'phone call' }, who);
    const starts = await Promise.all([codeOf(runs.start(id, who)), codeOf(world.console().start(id, who))]);
    expect(starts.filter((code) => code === 'done')).toHaveLength(1);
    await runIn(runs, id, 'done');
    expect(await codeOf(runs.start(id, who))).toBe('run_done');
    const entries = (await auditOfAll(world)).filter(({ action }) => action.startsWith('run.'));
    const what = { run_id: id, run_action: 'waive', item_count: 2 };
    const actor = who;
    expect(entries).toEqual([
      {
        action: 'run.started',
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
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'retry', task_ids }, who);
    expect(await codeOf(runs.start(id, who))).toBe('done');
    await runIn(runs, id, 'done');
    const entries = (await auditOfAll(world)).filter(({ action }) => action === 'report.retried');
    expect(entries.map(({ by, by_id, role }) => ({ name: by, id: by_id, role }))).toEqual([who, who]);
  });

  it('what is left is refused once the API key of the person who started a run is revoked', async () => {
    const task_ids = await refusedReports(world, 6);
    const who = await person(world, 'dispatcher');
    const { holder } = world.parts();
    let asked = 0;
    world.worker({
      holder: async (actor) => {
        asked += 1;
        if (asked === 3) await createApiKeyStore(world.foundation.redis).revoke(who.id, auditEntryOf('key.revoked'));
        return asked < 3 ? holder(actor) : null;
      },
    });
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'retry', task_ids }, who);
    await runs.start(id, who);
    const run = await runIn(runs, id, 'done');
    expect(run.counts).toMatchObject({ done: 2, refused: 4 });
    expect(new Set(run.items.map(({ code }) => code))).toEqual(new Set([null, 'role_not_allowed']));
    expect(await holder(who)).toBeNull();
    const times = await timesDecided(world, task_ids, 'report.retried');
    expect(times).toEqual(run.items.map(({ outcome }) => (outcome === 'done' ? 1 : 0)));
  });
});
