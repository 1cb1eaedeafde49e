import type { Clock } from '../../src/platform/clock';
import type { PatientClient, ShownTask } from './client';
import type { ServiceRecord } from './record';

/** A decision of the person at the desk about one violation. */
export interface ViolationDecision {
  readonly violationId: string;
  readonly action: 'accept' | 'retry';
  /** What the person was asked about. */
  readonly taskType: string;
  /** The moment before it was posted, ms since the epoch. */
  readonly atMs: number;
}

/** The only questions about violations that the service's faults can lead to. */
const QUESTIONS: readonly string[] = ['violation_unknown', 'violation_refused'];

/**
 * Decides one task about a violation: what the service has is accepted under the service's name for it, all else is sent
 * again. Returns the decision, null when it was no longer the moment for one, or what went wrong.
 */
export async function decideViolation(
  task: ShownTask,
  key: string,
  tools: { client: PatientClient; record: ServiceRecord; clock: Clock },
): Promise<ViolationDecision | string | null> {
  const { client, record, clock } = tools;
  const { violation } = task;
  // It only informs, and is true whenever the service has made one twice; the judge says whether it should have.
  if (task.type === 'violation_twice') return null;
  if (!violation || !QUESTIONS.includes(task.type)) return `${task.id}: nothing can have led to a task ${task.type}`;
  const held = await record.violations();
  const found = held.find(({ metadata }) => metadata?.['id'] === violation.metadata_id);
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
