import { create } from 'axios';
import { Queue, Worker, type Job } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { serveCommands } from './protocol';
import { CALLS, towNames, towRequest, type TowNames } from './tow';

/**
 * Contender (a): what an engineer writes first. Express with `express.json()` and zod, one BullMQ job per webhook,
 * a worker that makes the five calls with axios as it comes and keeps its progress in the job's data.
 */

const command = z.discriminatedUnion('do', [
  z.object({ do: z.literal('receive'), redisUrl: z.string() }),
  z.object({ do: z.literal('owe'), redisUrl: z.string(), tows: z.int(), prefix: z.string() }),
  z.object({ do: z.literal('take-in'), redisUrl: z.string() }),
  z.object({ do: z.literal('call'), redisUrl: z.string(), serviceUrl: z.string() }),
]);

const QUEUE = 'tows';
/** As many as a worker of towhook takes at once. */
const CONCURRENCY = 50;
const ADDED_AT_ONCE = 500;

const towRequestBody = z.object({
  violation_reference_id: z.string().min(1).max(200),
  towing_reference_id: z.string().min(1).max(200),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
type Tow = z.output<typeof towRequestBody> & { state?: string; done?: number };
const tokenAnswer = z.object({ data: z.object({ token: z.string() }) });

async function handle(received: unknown): Promise<unknown> {
  const wanted = command.parse(received);
  const connection = new Redis(wanted.redisUrl, { maxRetriesPerRequest: null });
  switch (wanted.do) {
    case 'receive':
      return { url: await receive(new Queue<Tow>(QUEUE, { connection })) };
    case 'owe':
      await owe(new Queue<Tow>(QUEUE, { connection }), wanted);
      return null;
    case 'take-in':
      await start(connection, (job) => job.updateData({ ...job.data, state: 'requested' }));
      return null;
    case 'call': {
      const call = await caller(wanted.serviceUrl);
      await start(connection, call);
      return null;
    }
  }
}

function receive(queue: Queue<Tow>): Promise<string> {
  const app = express();
  app.use(express.json());
  app.post('/tow-request', async (incoming, response) => {
    const body = towRequestBody.safeParse(incoming.body);
    if (!body.success) {
      response.status(400).json({ code: 'invalid' });
      return;
    }
    await queue.add('tow', body.data);
    response.json({ code: 'accepted' });
  });
  return new Promise((resolve, reject) => {
    const server = app.listen(0, '127.0.0.1', (error) => {
      if (error) return reject(error);
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
    });
  });
}

/** Adds the jobs of tows whose five calls are owed. */
async function owe(queue: Queue<Tow>, { tows, prefix }: { tows: number; prefix: string }): Promise<void> {
  for (let from = 0; from < tows; from += ADDED_AT_ONCE) {
    const count = Math.min(ADDED_AT_ONCE, tows - from);
    const bodies = Array.from({ length: count }, (_, index) => towRequest(towNames(prefix, from + index)));
    await queue.addBulk(bodies.map((body) => ({ name: 'tow', data: towRequestBody.parse(JSON.parse(body)) })));
  }
  await queue.close();
}

async function start(connection: Redis, process: (job: Job<Tow>) => Promise<void>): Promise<void> {
  const worker = new Worker<Tow>(QUEUE, process, { connection, concurrency: CONCURRENCY });
  await worker.waitUntilReady();
}

async function caller(serviceUrl: string): Promise<(job: Job<Tow>) => Promise<void>> {
  const answer = await create().post<unknown>(`${serviceUrl}/auth/public/token`);
  const { token } = tokenAnswer.parse(answer.data).data;
  const client = create({ baseURL: serviceUrl, headers: { authorization: `Bearer ${token}` } });
  return async (job) => {
    const names: TowNames = {
      towingReferenceId: job.data.towing_reference_id,
      violationReferenceId: job.data.violation_reference_id,
      metadataId: '',
    };
    for (const [place, { method, path, body }] of CALLS.entries()) {
      await client.request({ method, url: path, data: body(names) });
      await job.updateData({ ...job.data, done: place + 1 });
    }
  };
}

serveCommands(handle);
