import type { Clock } from '../../src/platform/clock';
import type { RetryingClient, CheckedTask } from './client';
import type { ServiceRecord } from './record';

/** A decision of the dispatcher about one violation. */
export interface DispatcherViolationDecision {
  readonly violationId: string;
  readonly action: 'accept' | 'retry';
  /** The type of the task that was decided. */
  readonly taskType: string;
  /** The time just before it was posted, ms since the epoch. */
  readonly atMs: number;
}

/** The only task types about violations that the injected faults can cause. */
const QUESTIONS: readonly string[] = ['violation_unknown', 'violation_refused'];

/**
 * Decides one task about a violation: a violation that the service has is accepted with its reference, any other is
 * retried. Returns the decision, null when the task was settled in the meantime, or a problem.
 */
export async function decideViolation(
  task: CheckedTask,
  key: string,
  tools: { client: RetryingClient; record: ServiceRecord; clock: Clock },
): Promise<DispatcherViolationDecision | string | null> {
  const { client, record, clock } = tools;
  const { violation } = task;
  // An information task. The judge checks whether the service may have stored the violation twice.
  if (task.type === 'violation_twice') return null;
  if (!violation || !QUESTIONS.includes(task.type)) return `${task.id}: nothing can have led to a task ${task.type}`;
  const stored = await record.violations();
  const found = stored.find(({ metadata }) => metadata?.['id'] === violation.metadata_id);
  const action = found ? 'accept' : 'retry';
  const decision = { violationId: violation.id, action, taskType: task.type, atMs: clock.nowMs() } as const;
  const reference = found && { violation_reference_id: found.violation_reference_id };
  const answer = await client.post(`/violations/${encodeURIComponent(violation.id)}/${action}`, {
    body: reference ? { reason: 'the service shows it', ...reference } : {},
    key,
  });
  if (answer.status === 202) return decision;
  // Proof may have settled it since the list was read.
  if (answer.status === 409) return null;
  return `${task.id}: ${action} was answered ${answer.status} ${answer.code}`;
}
