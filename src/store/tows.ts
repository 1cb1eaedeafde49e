import { setImmediate } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { TowRecord } from '../contracts/records';
import { OPERATIONS } from '../contracts/operations';
import { createdKind, parkedKind } from '../contracts/replies';
import type { NewTask } from '../domain/tasks';
import type { JsonObject } from '../domain/vocabulary';
import type { Remember, ReportDecision, Saved, TowChange, TowStore } from '../workflow/ports';
import { crewsKey, towKeys, violationKeys } from './keys';
import { countTows, listTows } from './list-tows';
import { listedBy } from './listed';
import { texts, towRecord } from './parse';
import { savedOf, settledOf } from './saved';
import { wellFormedJson as wellFormed } from './well-formed';
import { Script } from './scripts';

const readTow = new Script('read-tow');
const createTow = new Script('create-tow');
const parkInvoice = new Script('park');
const saveTow = new Script('save-tow');
const decideReport = new Script('decide');

/** The tows in Redis. Every write is one script; see the headers in lua/. */
export function createTowStore(redis: Redis): TowStore {
  const read = async (ref: string): Promise<TowRecord | null> => towRecord(await readTow.run(redis, towKeys(ref), []));
  const listByRefs = async (refs: readonly string[]): Promise<TowRecord[]> => {
    const replies = await readTow.readEach(
      redis,
      refs.map((ref) => ({ keys: towKeys(ref), args: [] })),
    );
    const records: TowRecord[] = [];
    for (const reply of replies) {
      const record = towRecord(reply);
      if (record) records.push(record);
      // Metadata may be as large as a message: whatever else this process does has its turn between two of them.
      await setImmediate();
    }
    return records;
  };
  return {
    read,
    listByRefs,

    list: (filter) => listTows(redis, filter, listByRefs),

    counts: (overdueAfter) => countTows(redis, overdueAfter),

    crews: () => redis.zrange(crewsKey, '0', '-1'),

    async create(tow, from) {
      const ref = tow.towingReferenceId;
      const [first, ...unparked] = texts(
        await createTow.run(redis, violationKeys('', { ref, deliveryId: from.deliveryId }), [
          ref,
          JSON.stringify(tow),
          from.deliveryId,
          wellFormed(from.timeline),
          wellFormed(from.searchTerms),
          tow.violationId === null ? tow.violationReferenceId : '',
          wellFormed((from.openTasks ?? []).map((task) => ({ id: taskId(ref, task), json: taskJson(ref, task) }))),
          wellFormed(listedBy(tow)),
          taskId(ref, from.lateTask),
          taskJson(ref, from.lateTask),
        ]),
        'create-tow',
      );
      return { kind: createdKind.parse(first), unparked };
    },

    async park(ref, deliveryId, { afterMs, task, lateTask }) {
      const late = [taskId(ref, lateTask), taskJson(ref, lateTask)];
      const args = [ref, deliveryId, afterMs, taskJson(ref, task), ...late];
      return parkedKind.parse(await parkInvoice.run(redis, towKeys(ref, { deliveryId }), args));
    },

    async save(before, change, remember) {
      const { tow } = before;
      const ref = tow.towingReferenceId;
      const keys = towKeys(ref, {
        ...(change.delivery ? { deliveryId: change.delivery.id } : {}),
        ...(remember ? { idempotencyScope: remember.scope } : {}),
      });
      const reply = await saveTow.run(redis, keys, [
        ref,
        before.version,
        JSON.stringify(change.tow),
        change.tow.state,
        wellFormed(changesOf(before, change)),
        remember?.fingerprint ?? '',
      ]);
      const saved = savedOf(reply, 'save-tow');
      return saved.kind === 'saved' ? { ...saved, hasSettled: settledOf(reply) } : saved;
    },

    decide: (before, decision, remember) => decide(redis, before, decision, remember),
  };
}

async function decide(
  redis: Redis,
  before: TowRecord,
  decision: ReportDecision,
  remember: Remember | undefined,
): Promise<Saved> {
  const ref = before.tow.towingReferenceId;
  const seqOf = (id: string) => seqIn(before, id);
  const changes = {
    document: decision.action === 'correct' ? JSON.stringify(decision.tow) : '',
    body: decision.action === 'correct' ? JSON.stringify(decision.body) : '',
    reason: decision.action === 'waive' || decision.action === 'accept' ? decision.reason : '',
    also_waive: decision.action === 'waive' ? decision.alsoWaive.map(({ id }) => seqOf(id)) : [],
    terms: decision.action === 'correct' ? decision.searchTerms : [],
    timeline: JSON.stringify(decisionEntry(decision)),
    audit: wellFormed(decision.audit),
    listed: decision.action === 'correct' ? listedBy(decision.tow) : null,
  };
  const reply = await decideReport.run(redis, towKeys(ref, remember ? { idempotencyScope: remember.scope } : {}), [
    ref,
    before.version,
    seqOf(decision.reportId),
    decision.action,
    wellFormed(changes),
    remember?.fingerprint ?? '',
  ]);
  return savedOf(reply, 'decide');
}

function decisionEntry(decision: ReportDecision): JsonObject {
  const entry: JsonObject = {
    type: decision.audit.action,
    report_id: decision.reportId,
    by: decision.audit.by,
  };
  if (decision.action === 'correct') entry['fields'] = decision.fields;
  if (decision.action === 'waive' || decision.action === 'accept') entry['reason'] = decision.reason;
  return entry;
}

function changesOf(before: TowRecord, change: TowChange) {
  const ref = before.tow.towingReferenceId;
  return {
    reports: change.reports.map(({ kind, body }, index) => ({
      id: `${kind}-${before.reports.length + index + 1}`,
      kind,
      body: JSON.stringify(body),
      once: OPERATIONS[kind].safeToRepeat ? '0' : '1',
    })),
    withdraw: change.withdraw.ids.map((id) => seqIn(before, id)),
    withdraw_reason: change.withdraw.reason,
    timeline: change.timeline.map((entry) => JSON.stringify(entry)),
    open_tasks: change.openTasks.map((task) => ({ id: taskId(ref, task), json: taskJson(ref, task) })),
    close_tasks: change.closeTasks,
    terms: change.searchTerms,
    delivery_id: change.delivery?.id ?? '',
    verdict: change.delivery?.verdict ?? '',
    reconciled: change.reconciled,
    audit: change.audit ? wellFormed(change.audit) : '',
    listed: listedBy(change.tow),
  };
}

function seqIn(before: TowRecord, reportId: string): number {
  const report = before.reports.find(({ id }) => id === reportId);
  if (!report) throw new Error(`no report ${reportId} on this tow`);
  return report.seq;
}

/** The id under which a task of a tow is open at most once. */
export function taskId(ref: string, task: NewTask): string {
  return `${task.subject}.${ref}`;
}

/** A task of a tow as it is stored. */
export function taskJson(ref: string, { subject, ...task }: NewTask): string {
  return JSON.stringify({ id: `${subject}.${ref}`, ...task, towing_reference_id: ref }).toWellFormed();
}

/** A task of the whole operator as it is stored: open at most once. */
export function generalTaskJson({ subject, ...task }: NewTask): string {
  return JSON.stringify({ id: subject, ...task }).toWellFormed();
}
