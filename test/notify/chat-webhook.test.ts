import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { mailTextIn } from '../../src/console/parts/alarm-text';
import type { NoticeFormat } from '../../src/domain/ops/notification-settings';
import { createWebhookSender } from '../../src/notify/webhook';
import { systemClock } from '../../src/platform/clock';
import { CA_FILE } from '../support/mail-server';
import { NO_RECEIVER, noticeReceiver, startNotice } from '../support/notifications';
import { portOf } from '../support/server-port';

const CONSOLE = 'https://console.towing.example';
const TITLE = '<!channel> *host_1* & <users/all> @everyone [x](y)';

let receiver: Awaited<ReturnType<typeof noticeReceiver>>;
beforeEach(async () => {
  receiver = await noticeReceiver();
});
afterEach(() => receiver.close());

const webhookOf = (format: NoticeFormat, changes: { proxyUrl?: string; caFile?: string } = {}) =>
  createWebhookSender({
    webhook: { format, secret: null, proxyUrl: null, caFile: null, ...changes },
    consoleUrl: CONSOLE,
    clock: systemClock,
    textOf: (notice, language) => mailTextIn(notice, { language, consoleUrl: CONSOLE }),
  });

function noticeAbout(title: string) {
  const { alarm, ...notice } = startNotice();
  return { ...notice, alarm: alarm && { ...alarm, title } };
}

/** What the incoming webhook of each product takes; it answers 400 to anything else. */
const BODIES = {
  slack: z.looseObject({ text: z.string().min(1).max(40_000) }),
  'google-chat': z.strictObject({ text: z.string().min(1).max(4096) }),
  discord: z.looseObject({ content: z.string().min(1).max(2000), allowed_mentions: z.object({ parse: z.tuple([]) }) }),
  teams: z.object({
    type: z.literal('message'),
    attachments: z.tuple([
      z.object({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        content: z.looseObject({
          type: z.literal('AdaptiveCard'),
          version: z.string(),
          body: z.array(z.unknown()).min(1),
        }),
      }),
    ]),
  }),
} as const;
const CHATS = ['slack', 'google-chat', 'discord', 'teams'] as const;

test.each(CHATS)('posts what %s takes, also of a text that is too long for it', async (format) => {
  for (const title of [TITLE, '<&*>'.repeat(20_000)]) {
    const sent = await webhookOf(format).send(noticeAbout(title), { ...NO_RECEIVER, webhookUrl: receiver.url });
    expect(sent).toEqual({ kind: 'delivered', problem: null });
    const body: unknown = JSON.parse(receiver.received.at(-1)?.body ?? '');
    expect(BODIES[format].safeParse(body).error).toBeUndefined();
    expect(receiver.received.at(-1)?.headers['webhook-signature']).toBeUndefined();
  }
});

test('escapes what a chat would take for a mention, a link or a format, and keeps the link to the console', async () => {
  for (const format of CHATS)
    await webhookOf(format).send(noticeAbout(TITLE), { ...NO_RECEIVER, webhookUrl: receiver.url });
  const [slack = '', google = '', discord = '', teams = ''] = receiver.received.map(({ body }) => body);
  expect(slack).toContain('&lt;!channel&gt; *host_1* &amp; &lt;users/all&gt;');
  expect(google).toContain('‹!channel›');
  expect(google).not.toMatch(/[<>]/);
  expect(discord).toContain(String.raw`\\<!channel\\> \\*host\\_1\\* &`);
  expect(teams).toContain('"type":"TextRun","text":"towhook: <!channel>');
  for (const body of [slack, google, discord, teams]) expect(body).toContain(`${CONSOLE}/ops`);
});

describe('with a server whose certificate an authority of the company signed', () => {
  let server: Server;
  let url: string;
  beforeEach(async () => {
    const folder = join(CA_FILE, '..');
    const certificate = {
      key: readFileSync(join(folder, 'server-key.pem')),
      cert: readFileSync(join(folder, 'server.pem')),
    };
    server = createServer(
      certificate,
      (request, response) => void request.resume().on('end', () => response.end('ok')),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `https://localhost:${portOf(server)}/chat`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const send = (changes: { proxyUrl?: string; caFile?: string }) =>
    webhookOf('slack', changes).send(startNotice(), { ...NO_RECEIVER, webhookUrl: url });

  test('delivers with NOTIFY_CA_FILE alone', async () => {
    expect((await send({})).kind).toBe('failed');
    expect(await send({ caFile: CA_FILE })).toEqual({ kind: 'delivered', problem: null });
  });

  test('delivers through the proxy of NOTIFY_PROXY_URL', async () => {
    const targets: (string | undefined)[] = [];
    const proxy = createHttpServer().on('connect', (request, socket) => {
      targets.push(request.url);
      const onward = connect(Number(new URL(url).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      for (const side of [onward, socket]) side.on('error', () => onward.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      const proxyUrl = `http://127.0.0.1:${portOf(proxy)}`;
      expect(await send({ caFile: CA_FILE, proxyUrl })).toEqual({ kind: 'delivered', problem: null });
      expect(targets).toEqual([new URL(url).host]);
    } finally {
      proxy.close();
    }
  });
});
