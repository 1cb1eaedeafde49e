import { createServer } from 'node:http';
import type { ChannelHealth, Notice, NotificationState, ObservedAlarm } from '../../src/domain/ops/notices';
import type { NotificationSettings } from '../../src/domain/ops/notification-settings';
import { portOf } from './server-port';

/** Settings without a receiver. */
export const NO_RECEIVER: NotificationSettings = {
  language: 'en',
  webhookUrl: null,
  mailTo: [],
  severities: ['bad', 'wait'],
  mutedAlarms: [],
  remindMs: 86_400_000,
};

export const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export function observedAlarm(changes: Partial<ObservedAlarm> = {}): ObservedAlarm {
  return {
    key: 'outage',
    kind: 'outage',
    severity: 'bad',
    title: 'The service is down.',
    todo: 'Wait.',
    failingChannel: null,
    ...changes,
  };
}

/** The state as it is when everything in it happened earlier. */
export function agedBy({ incidents, notices, channels }: NotificationState, ms: number): NotificationState {
  const back = (atMs: number | null) => (atMs === null ? null : atMs - ms);
  const aged = (health: ChannelHealth | null) => health && { ...health, failingSinceMs: back(health.failingSinceMs) };
  return {
    incidents: incidents.map((incident) => ({
      ...incident,
      seenAtMs: incident.seenAtMs - ms,
      missingSinceMs: back(incident.missingSinceMs),
      startedAtMs: back(incident.startedAtMs),
      remindedAtMs: back(incident.remindedAtMs),
    })),
    notices: notices.map((notice) => ({ ...notice, nextAtMs: notice.nextAtMs - ms })),
    channels: { webhook: aged(channels.webhook), mail: aged(channels.mail) },
  };
}

/** A notice about the start of one alarm. */
export function startNotice(changes: Partial<Notice> = {}): Notice {
  const { kind, severity, title, todo } = observedAlarm();
  return {
    id: 'a1.started',
    type: 'alarm.started',
    channel: 'webhook',
    alarm: { id: 'a1', kind, severity, title, todo, seenAtMs: Date.UTC(2026, 10, 22, 6) },
    createdAtMs: Date.UTC(2026, 10, 22, 6, 1),
    attempts: 0,
    nextAtMs: 0,
    ...changes,
  };
}

export interface ReceivedNotice {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An HTTP server that keeps what is posted to it. `status` is its next answers; null: it never answers. */
export async function noticeReceiver() {
  const received: ReceivedNotice[] = [];
  const answers: { status: number | null; headers: Record<string, string> } = { status: 200, headers: {} };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      received.push({ headers, body: Buffer.concat(chunks).toString() });
      if (answers.status !== null) response.writeHead(answers.status, answers.headers).end('a body that is not read');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}/alarms`,
    received,
    answers,
    ids: () => received.map(({ headers }) => headers['webhook-id']),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
