import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonObject } from '../../src/contracts/common';
import { createLog, type Log } from '../../src/platform/log/log';
import { eventually } from '../support/eventually';

/** A log that writes into a file, and what it wrote. */
export interface ReadableLog {
  readonly log: Log;
  /** The whole file once it has this many lines. */
  readonly text: (lines: number) => Promise<string>;
  /** The lines once there are this many. */
  readonly lines: (count: number) => Promise<Record<string, unknown>[]>;
}

const folders: string[] = [];

export async function readableLog(settings: { level?: string; sensitiveNames?: string[] } = {}): Promise<ReadableLog> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-log-'));
  folders.push(folder);
  const file = join(folder, 'log.jsonl');
  const { level = 'debug', sensitiveNames = [] } = settings;
  const text = (lines: number) =>
    eventually(async () => {
      const written = await readFile(file, 'utf8');
      expect(written.split('\n').length).toBeGreaterThan(lines);
      return written;
    });
  return {
    log: createLog({ level, sensitiveNames, file }),
    text,
    async lines(count) {
      const written = (await text(count)).trimEnd().split('\n');
      return written.map((line) => jsonObject.parse(JSON.parse(line)));
    },
  };
}

export async function removeLogs(): Promise<void> {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
}
