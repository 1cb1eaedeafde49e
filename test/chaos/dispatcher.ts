import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock';
import type { RetryingClient, CheckedTask } from './client';
import { decideViolation, type DispatcherViolationDecision } from './dispatcher-violations';
import type { ServiceRecord } from './record';

/** A decision of the dispatcher about one report. */
export interface ReportDecision {
  readonly ref: string;
  readonly reportId: string;
  readonly action: 'accept' | 'retry';
  /** The time just before it was posted, ms since the epoch. */
  readonly atMs: number;
}

/** The dispatcher: reads the open tasks, looks at the service, decides. */
export interface Dispatcher {
  readonly decisions: readonly ReportDecision[];
  readonly violationDecisions: readonly DispatcherViolationDecision[];
  /** The number of tasks by type. */
  readonly tasksSeen: ReadonlyMap<string, number>;
  /** Calls that the operator API refused. */
  readonly refusals: readonly string[];
  /** Works until the signal aborts. */
  work(): Promise<void>;
}

export interface DispatcherTools {
  readonly client: RetryingClient;
  readonly record: ServiceRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 700;

export function createDispatcher(tools: DispatcherTools): Dispatcher {
  const { client, record, clock, signal } = tools;
  const decisions: ReportDecision[] = [];
  const violationDecisions: DispatcherViolationDecision[] = [];
  const tasksSeen = new Map<string, number>();
  const refusals: string[] = [];
  let open = new Set<string>();
  let posts = 0;

  /** A report is accepted only if the service shows its effect. */
  const decide = async (task: CheckedTask, ref: string, reportId: string) => {
    const kind = reportId.replace(/-\d+$/, '');
    const calls = await record.calls(ref);
    const wasTaken = calls.some(({ operation, effect }) => operation === kind && effect);
    const action = wasTaken ? 'accept' : 'retry';
    const decision: ReportDecision = { ref, reportId, action, atMs: clock.nowMs() };
    posts += 1;
    const answer = await client.post(`/tows/${encodeURIComponent(ref)}/reports/${reportId}/${action}`, {
      body: action === 'accept' ? { reason: 'the service shows it' } : {},
      key: `${task.id} ${posts}`,
    });
    if (answer.status === 202) decisions.push(decision);
    // Since the list was read, proof may have settled the report, or another attempt may have started.
    if (answer.status !== 202 && answer.status !== 409) {
      refusals.push(`${ref}: ${action} of ${reportId} was answered ${answer.status} ${answer.code}`);
    }
  };
  const decideOnViolation = async (task: CheckedTask) => {
    posts += 1;
    const decided = await decideViolation(task, `${task.id} ${posts}`, tools);
    if (typeof decided === 'string') refusals.push(decided);
    else if (decided) violationDecisions.push(decided);
  };
  const look = async () => {
    const tasks = await client.tasks();
    for (const task of tasks) {
      if (!open.has(task.id)) tasksSeen.set(task.type, (tasksSeen.get(task.type) ?? 0) + 1);
      const { towing_reference_id: ref, report_id: reportId } = task;
      const isAboutReport = task.actions.includes('retry') && task.actions.includes('accept');
      if (isAboutReport && ref !== undefined && reportId !== undefined) await decide(task, ref, reportId);
      if (task.violation_id !== undefined) await decideOnViolation(task);
    }
    open = new Set(tasks.map(({ id }) => id));
  };
  return {
    decisions,
    violationDecisions,
    tasksSeen,
    refusals,
    async work() {
      while (!signal.aborted) {
        await look();
        await pause(LOOK_EVERY_MS, undefined, { signal });
      }
    },
  };
}
