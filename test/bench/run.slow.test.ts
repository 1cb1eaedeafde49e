import { z } from 'zod';
import { run } from '../../bench/run';
import { openWorld, type BenchWorld } from '../../bench/stage/world';
import { lifecycle } from '../../bench/workloads/lifecycle';
import { untilDrained } from '../../bench/workloads/owed-tows';

const options = {
  rounds: 1,
  tows: 3,
  seconds: 1,
  connections: 2,
  serviceLatencyMs: 0,
  towsPerSecond: 5,
  backlogTows: 5,
  openTows: 9,
  stored: [5],
};

describe('the bench', () => {
  test('carries a few tows through the lifecycle with every contender and shows one row per figure', async () => {
    const tools = { options, progress: () => {} };
    const { markdown, failures } = await run([lifecycle], {
      tools,
      command: 'npm run bench -- lifecycle',
      date: '2026-11-20',
    });
    expect(failures).toEqual([]);
    const cells = markdown
      .split('\n')
      .filter((line) => line.startsWith('| lifecycle'))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(cells.map(([, , figure]) => figure)).toEqual([
      'one worker, tows/s',
      'worker CPU per tow, its start included, ms',
      'Redis CPU per tow, ms',
      'Redis commands per tow, with what the worker does anyway',
      'CPU of the stub of the service per tow, ms',
    ]);
    const [rates = []] = cells;
    const rate = (column: number) => Number(rates[column]?.replaceAll(',', ''));
    expect(Math.min(rate(3), rate(5), rate(8))).toBeGreaterThan(0);
  });
});

describe('the stub of the service', () => {
  let world: BenchWorld | undefined;
  afterEach(() => world?.close());

  test('reports calls of a tow that come out of order', async () => {
    world = await openWorld(options);
    const { url } = await world.service();
    await patch(`${url}/v1/tow/public/towing-status/detained`);
    await expect(untilDrained(world, 1, 30_000)).rejects.toThrow('1 calls came out of order');
  });

  test('accepts calls in order, and counts those that it has to refuse', async () => {
    world = await openWorld(options);
    const service = await world.service();
    const started = `${service.url}/v1/tow/public/towing-status/started`;
    await service.ask({ do: 'fail', httpStatus: 503 }, z.unknown());
    expect(await patch(started)).toBe(503);
    await service.ask({ do: 'fail', httpStatus: null }, z.unknown());
    expect([await patch(started), await patch(started.replace('started', 'detained'))]).toEqual([200, 200]);
    expect(await service.ask({ do: 'read' }, z.unknown())).toMatchObject({ calls: 2, failed: 1, disorder: 0 });
  });
});

async function patch(url: string): Promise<number> {
  const body = JSON.stringify({ towing_reference_id: 'TW-20261120-1' });
  const answer = await fetch(url, { method: 'PATCH', body });
  await answer.arrayBuffer();
  return answer.status;
}
