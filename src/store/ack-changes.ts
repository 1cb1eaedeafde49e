import type { AttemptResult, Claimed } from '../workflow/outbox-port';

/** What an attempt changes, in the words of lua/ack.lua and lua/ack-violation.lua; the tasks it may open come with it. */
export function changesOf(
  claimed: Pick<Claimed, 'connectionFailures'>,
  result: AttemptResult,
  { giveUpAfterMs }: { readonly giveUpAfterMs: number },
) {
  const { verdict } = result;
  const connectionDelayMs = connectionDelayOf(result);
  const isUnanswered =
    result.isForeign || verdict.next === 'unknown' || (verdict.next === 'retry' && verdict.because === 'unanswered');
  return {
    error: result.error ? JSON.stringify(result.error) : '',
    hint: verdict.next === 'refused' ? (verdict.hint ?? '') : '',
    answer: result.answer ? JSON.stringify(result.answer) : '',
    raw_body: result.rawBody ?? '',
    not_found: verdict.next === 'retry' && verdict.because === 'not_found' ? 1 : 0,
    unanswered: isUnanswered ? 1 : 0,
    no_effect: result.hadNoEffect,
    permit_spent: result.isPermitSpent,
    answered: result.wasAnswered,
    connection: connectionDelayMs !== null,
    connection_delay_ms: connectionDelayMs ?? 0,
    connection_safe_only: result.isForeign,
    connection_failures: claimed.connectionFailures + 1,
    connection_loss: result.isConnectionLoss ? 1 : 0,
    too_old: result.isTooOld,
    service: result.service,
    forbidden: result.isForbidden,
    asked_ms: result.askedMs,
    outage_delay_ms: result.outageDelayMs,
    give_up_ms: giveUpAfterMs,
  };
}

/** How long the connection is left alone, ms; null when the attempt says nothing against it. */
function connectionDelayOf({ verdict }: AttemptResult): number | null {
  if (verdict.next === 'unknown') return verdict.connectionDelayMs ?? null;
  return verdict.next === 'hold' && verdict.because === 'connection' ? verdict.delayMs : null;
}

/** How long to wait, ms; 0 for what is settled or refused. */
export function delayOf({ verdict }: AttemptResult): number {
  return verdict.next === 'accepted' || verdict.next === 'refused' ? 0 : verdict.delayMs;
}

/** An attempt as it is kept. */
export function attemptJson({ attemptId }: Pick<Claimed, 'attemptId'>, { attempt }: AttemptResult): string {
  return JSON.stringify({ attempt_id: attemptId, ...attempt }).toWellFormed();
}
