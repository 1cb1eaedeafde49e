import { pageOfNotice, type Notice } from '../domain/notices';
import { isoTimestamp } from '../domain/timestamp';
import { errorCode } from '../platform/errors';
import type { Clock } from '../platform/clock';
import { signedHeaders } from '../platform/webhook-signature';
import type { NoticeSender } from '../workflow/notification-port';

const TIMEOUT_MS = 10_000;

/**
 * Posts notices as JSON, signed as Standard Webhooks. Any 2xx is a delivery. No redirect
 * is followed, and nothing of the answer but its status is read.
 *
 * @param tools.secret `whsec_…`; null when none is configured.
 * @param tools.consoleUrl address of the console without a path; null when it is not known.
 */
export function createWebhookSender(tools: {
  readonly secret: string | null;
  readonly consoleUrl: string | null;
  readonly clock: Clock;
}): NoticeSender {
  const { secret, consoleUrl, clock } = tools;
  return {
    missing: secret === null ? ['NOTIFY_WEBHOOK_SECRET'] : [],
    async send(notice, { webhookUrl: url }) {
      const body = JSON.stringify(noticeBody(notice, consoleUrl));
      const timestamp = Math.floor(clock.nowMs() / 1000);
      const signed = secret === null ? null : signedHeaders({ id: notice.id, timestamp, body }, secret);
      if (url === null || signed === null) return { kind: 'failed', problem: 'not_configured' };
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'user-agent': 'towhook', ...signed },
          body,
          redirect: 'manual',
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        await response.body?.cancel();
        return response.ok
          ? { kind: 'delivered', problem: null }
          : { kind: 'failed', problem: `http_${response.status}` };
      } catch (error) {
        return { kind: 'failed', problem: problemOf(error) };
      }
    },
  };
}

/** The body of a notice; docs/operations/notifications.md describes it. */
function noticeBody(notice: Notice, consoleUrl: string | null) {
  const { id, type, alarm, createdAtMs } = notice;
  return {
    id,
    type,
    timestamp: isoTimestamp(createdAtMs),
    data: {
      page: pageOfNotice(notice, consoleUrl),
      alarm: alarm && {
        id: alarm.id,
        kind: alarm.kind.toString(),
        severity: alarm.severity,
        since: isoTimestamp(alarm.seenAtMs),
        title: alarm.title,
        what_to_do: alarm.todo,
      },
    },
  };
}

/** `fetch` hides the cause of a failed connection in `cause`. Messages may contain the address; codes do not. */
function problemOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  const cause = error instanceof Error ? error.cause : null;
  // `fetch` never calls ports of other protocols, such as 22. The error has no code.
  if (cause instanceof Error && cause.message === 'bad port') return 'port_never_called';
  return errorCode(cause) ?? errorCode(error) ?? 'not_sent';
}
