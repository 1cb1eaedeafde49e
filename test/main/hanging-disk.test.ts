import files from 'node:fs/promises';
import { watchDisk } from '../../src/main/gauges';
import { createMetrics } from '../../src/platform/log/metrics';
import { readMetricsText } from '../support/metrics-text';

afterEach(() => jest.restoreAllMocks());

test('a scrape leaves out the figures of a disk that hangs, and begins no second read of them', async () => {
  const hanging = () => new Promise<never>(() => {});
  const reads = [jest.spyOn(files, 'statfs'), jest.spyOn(files, 'readdir')];
  for (const read of reads) read.mockImplementation(hanging);
  const metrics = createMetrics();
  watchDisk(metrics, '/data', 10);

  for (let scrapes = 0; scrapes < 2; scrapes += 1) {
    const { text } = await metrics.text();
    const series = readMetricsText(text).filter(({ name }) => /disk|archive_bytes/.test(name));
    expect(series.map(({ name, samples }) => [name, samples])).toEqual([
      ['towhook_disk_free_bytes', []],
      ['towhook_disk_size_bytes', []],
      ['towhook_archive_bytes', []],
    ]);
  }

  expect(reads.map((read) => read.mock.calls.length)).toEqual([1, 1]);
});
