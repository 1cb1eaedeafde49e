import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { ROUTES } from '../../src/contracts/operator-routes';
import { changeTypesIn } from '../support/changes';
import { createViolationOutbox } from '../../src/store/outbox/outbox';
import { runKey } from '../../src/store/keys';
import { createViolationStore } from '../../src/store/violation/violations';
import { answerHead, newViolation } from '../operator/world';
import { refusedWith } from '../support/exchanges';
import { mustClaimViolation, outcome } from '../support/violations';
import {
  auditOfAll,
  codeOf,
  informing,
  openTasks,
  outcomes,
  person,
  previewed,
  refOf,
  refusedReport,
  refusedReports,
  reportState,
  runIn,
  timesDecided,
  useRunWorld,
} from './run-world';

const world = useRunWorld();
beforeEach(() => void world.worker());

/** A violation that the service refused; returns its id and that of its task. */
async function refusedViolation(): Promise<{ id: string; taskId: string }> {
  const id = await newViolation(world);
  const { redis, clock } = world.foundation;
  const outbox = createViolationOutbox(redis, clock, {
    leaseMs: 20_000,
    graceMs: 60_000,
    giveUpAfterMs: 3_600_000,
    rateLimit: { limit: 0, windowMs: 60_000 },
    checksTicket: false,
  });
  const task = refusedTask({ kind: 'violation', id, httpStatus: 400, message: 'no', hint: null });
  const refused = outcome({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'no'), task });
  await outbox.settle(await mustClaimViolation(outbox, id), refused);
  return { id, taskId: `violation.${id}` };
}

describe('decisions of a run', () => {
  it('a run of retries sends refused reports again', async () => {
    const task_ids = await refusedReports(world, 9);
    const who = await person(world, 'dispatcher');
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'retry', task_ids }, who);
    expect(await codeOf(runs.start(id, who))).toBe('done');
    const run = await runIn(runs, id, 'done');

    expect(outcomes(run)).toEqual(task_ids.map(() => 'done'));
    expect(run).toMatchObject({ counts: { waiting: 0, done: 9 }, started_by: who.name });
    expect(await timesDecided(world, task_ids, 'report.retried')).toEqual(task_ids.map(() => 1));
    expect(await Promise.all(task_ids.map((task) => reportState(world, task)))).toEqual(task_ids.map(() => 'pending'));
    expect(await openTasks(world)).toEqual([]);
  });

  it.each([
    ['waive', 'report.waived', 'waived'],
    ['accept', 'report.accepted_by_hand', 'accepted'],
  ] as const)('a run decides reports and violations alike: %s, with the reason', async (action, audited, state) => {
    const report = await refusedReport(world);
    const violation = await refusedViolation();
    const who = await person(world, 'dispatcher');
    const runs = world.console();
    const task_ids = [report, violation.taskId];
    const { id } = await previewed(runs, { action, task_ids, reason: 'phone call' }, who);
    await runs.start(id, who);
    expect(outcomes(await runIn(runs, id, 'done'))).toEqual(['done', 'done']);
    expect(await reportState(world, report)).toBe(state);
    expect((await createViolationStore(world.foundation.redis).read(violation.id))?.entries[0]?.state).toBe(state);
    const entries = (await auditOfAll(world)).slice(-2);
    const [of, by] = [audited.replace('report', 'violation'), who];
    expect(entries.map((entry) => entry.action).toSorted()).toEqual([audited, of].toSorted());
    expect(entries).toMatchObject([0, 1].map(() => ({ by: by.name, by_id: by.id, why: 'phone call' })));
  });

  it('a run of retries sends refused violations again', async () => {
    const { id: violationId, taskId } = await refusedViolation();
    const who = await person(world, 'dispatcher');
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'retry', task_ids: [taskId] }, who);
    await runs.start(id, who);
    expect(await runIn(runs, id, 'done')).toMatchObject({ items: [{ outcome: 'done', violation_id: violationId }] });
    expect((await createViolationStore(world.foundation.redis).read(violationId))?.entries[0]?.state).toBe('pending');
  });

  it('a run of resolves resolves tasks that only inform, with a reason or without', async () => {
    const task_ids = [await informing(world), await informing(world)];
    const who = await person(world, 'dispatcher');
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'resolve', task_ids, reason: 'read' }, who);
    await runs.start(id, who);
    await runIn(runs, id, 'done');
    expect(await openTasks(world)).toEqual([]);
    expect((await auditOfAll(world)).slice(-2)).toMatchObject(
      [0, 1].map(() => ({ action: 'task.resolved', why: 'read' })),
    );

    const third = await informing(world);
    const other = await previewed(runs, { action: 'resolve', task_ids: [third] }, who);
    await runs.start(other.id, who);
    expect(outcomes(await runIn(runs, other.id, 'done'))).toEqual(['done']);
  });
});

describe('tasks that changed after the preview of a run', () => {
  it('a run leaves tasks unchanged that match its filter only after the preview', async () => {
    const chosen = await refusedReports(world, 2);
    const who = await person(world, 'dispatcher');
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'retry', type: 'report_refused' }, who);
    const later = await refusedReport(world);
    await runs.start(id, who);
    const run = await runIn(runs, id, 'done');
    expect(run.items.map(({ id: taskId, outcome }) => [taskId, outcome])).toEqual(chosen.map((task) => [task, 'done']));
    expect(await openTasks(world)).toEqual([later]);
  });

  it('a run marks a task that a person decided after the preview as gone and leaves it unchanged', async () => {
    const [decided, other] = [await refusedReport(world), await refusedReport(world)];
    const who = await person(world, 'dispatcher');
    const runs = world.console();
    const asked = { action: 'waive', task_ids: [decided, other], reason: 'all of them' };
    const { id } = await previewed(runs, asked, who);
    const params = { towing_reference_id: refOf(decided), report_id: 'started-1' };
    const retried = await world.api.call(ROUTES.retryReport, { actor: who, params });
    expect(retried.ok).toBe(true);
    await runs.start(id, who);
    const run = await runIn(runs, id, 'done');
    expect(outcomes(run)).toEqual(['gone', 'done']);
    expect(run.items[0]).toMatchObject({ code: 'asked_no_more' });
    // A report that waits to be sent could be waived, but the preview did not contain that decision.
    expect(await reportState(world, decided)).toBe('pending');
  });

  it('a run leaves a task unchanged that was decided and reopened after the preview', async () => {
    const again = await refusedReport(world);
    const who = await person(world, 'dispatcher');
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'waive', task_ids: [again], reason: 'as before' }, who);
    const params = { towing_reference_id: refOf(again), report_id: 'started-1' };
    await world.api.call(ROUTES.retryReport, { actor: who, params });
    await answerHead(world, refOf(again), 'refused');
    expect(await openTasks(world)).toEqual([again]);
    await runs.start(id, who);
    expect(outcomes(await runIn(runs, id, 'done'))).toEqual(['gone']);
    expect(await reportState(world, again)).toBe('refused');
  });

  it('a run keeps the message of the API for a task that cannot be decided, and decides the others', async () => {
    const task_ids = await refusedReports(world, 3);
    const who = await person(world, 'dispatcher');
    const runs = world.console();
    const { id } = await previewed(runs, { action: 'retry', task_ids }, who);
    await world.foundation.redis.del(`{towhook-main}:tow:${refOf(task_ids[1] ?? '')}`);
    await runs.start(id, who);
    const run = await runIn(runs, id, 'done');
    expect(outcomes(run)).toEqual(['done', 'refused', 'done']);
    expect(run.items[1]).toMatchObject({ code: 'tow_not_found', message: 'There is no such tow.' });
    expect(run.counts).toEqual({ waiting: 0, done: 2, refused: 1, gone: 0, skipped: 0 });
  });
});

it('a run that has started is kept for a day from its start', async () => {
  const who = await person(world, 'dispatcher');
  const runs = world.console();
  const { id } = await previewed(runs, { action: 'retry', task_ids: await refusedReports(world, 1) }, who);
  await runs.start(id, who);
  const run = await runIn(runs, id, 'done');
  expect(Date.parse(run.expires_at) - Date.parse(run.started_at ?? '')).toBe(86_400_000);
  const life = await world.foundation.redis.pttl(runKey(id));
  expect(Math.abs(life - 86_400_000)).toBeLessThan(60_000);
});

it('a preview of a run without a possible decision cannot be started', async () => {
  const who = await person(world, 'dispatcher');
  const runs = world.console();
  const { id } = await previewed(runs, { action: 'resolve', task_ids: await refusedReports(world, 1) }, who);
  expect(await codeOf(runs.start(id, who))).toBe('nothing_waits');
  expect(await codeOf(runs.start('no-such-run', who))).toBe('run_not_found');
});

it('a run adds a change for its start and for its end', async () => {
  const changes = async () =>
    (await changeTypesIn(world.foundation.redis)).filter((type) => type === 'run.changed').length;
  const who = await person(world, 'dispatcher');
  const runs = world.console();
  const { id } = await previewed(runs, { action: 'retry', task_ids: await refusedReports(world, 3) }, who);
  const before = await changes();
  await runs.start(id, who);
  await runIn(runs, id, 'done');
  expect((await changes()) - before).toBe(2);
});
