import { connect } from 'node:net';
import { atMost, type Sample } from '../measure/figures';
import { openCpuMeter } from '../measure/resources';
import { STRANGE_REQUESTS, type StrangeRequest } from '../stage/strange-requests';
import type { BenchWorld } from '../stage/world';
import { compare, type Workload } from './workload';

/** Requests of one sort that are measured together: CPU time is counted in steps of 10 ms. */
const REPEATED = 20;
const ANSWERED_WITHIN_MS = 20_000;
const WITHOUT_REDIS = 'form while Redis is away';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** What a request without a valid key, session or signature costs: of each kind, the most expensive that is known. */
export const strangers: Workload = {
  name: 'strangers',
  about: 'CPU time of `all` per request of a stranger, by kind of request',
  isStandard: false,
  measure: (tools) => compare('strangers', { figures: FIGURES, plays: [{ contender: 'towhook', run: play }] }, tools),
};

const FIGURES = Object.fromEntries(
  [...Object.keys(STRANGE_REQUESTS), WITHOUT_REDIS].map((kind) => [
    kind,
    { label: kind, unit: 'ms', digits: 1, target: atMost(20) },
  ]),
);

async function play(world: BenchWorld): Promise<Sample> {
  const all = await world.role('all', { WEBHOOK_UNVERIFIED: '', WEBHOOK_SECRETS: SECRET });
  const urls = { receiver: new URL(all.url('receiver')), console: new URL(all.url('console')) };
  let sources = 0;
  const costOf = async (sent: StrangeRequest) => {
    const meter = await openCpuMeter([all.processId]);
    for (let count = 0; count < REPEATED; count += 1) {
      sources += 1;
      // One after the other, each from a source of its own, as limits count sources.
      // oxlint-disable-next-line eslint/no-await-in-loop
      await send(urls[sent.to], sent, `127.1.${Math.floor(sources / 250)}.${(sources % 250) + 1}`);
    }
    return (await meter()) / REPEATED;
  };
  const mostOf = async (requests: readonly StrangeRequest[]) => {
    let most = 0;
    // oxlint-disable-next-line eslint/no-await-in-loop
    for (const sent of requests) most = Math.max(most, await costOf(sent));
    return most;
  };
  const sample: Record<string, number> = {};
  // oxlint-disable-next-line eslint/no-await-in-loop
  for (const [kind, requests] of Object.entries(STRANGE_REQUESTS)) sample[kind] = await mostOf(requests);
  await world.redis.stop();
  const forms = STRANGE_REQUESTS['form without a session'] ?? [];
  sample[WITHOUT_REDIS] = await mostOf(
    forms.map((sent) => ({ ...sent, head: [...sent.head, 'cookie: towhook_session=x'] })),
  );
  return sample;
}

/** Sends a request from an address, and resolves when its connection has ended. */
function send(url: URL, { head, body = Buffer.alloc(0) }: StrangeRequest, localAddress: string): Promise<void> {
  const socket = connect({ host: url.hostname, port: Number(url.port), localAddress });
  return new Promise((resolve) => {
    socket.setTimeout(ANSWERED_WITHIN_MS, () => socket.destroy());
    socket.on('error', () => {}).on('close', () => resolve());
    socket.resume();
    socket.write(`${head.join('\r\n')}\r\nhost: x\r\nconnection: close\r\n\r\n`);
    socket.write(body);
  });
}
