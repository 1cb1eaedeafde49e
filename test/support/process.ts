import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRoleProcess, type RoleProcess } from './role-process';

export type { RoleProcess } from './role-process';

const running = new Set<RoleProcess>();
const folders: string[] = [];

afterEach(async () => {
  // A process that outlives its test would take the work of the next test.
  const exits = [...running].map(({ exited }) => exited);
  for (const role of running) role.kill('SIGKILL');
  await Promise.all(exits);
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Starts a role on free ports with its own data folder. After the test it is killed if it still runs. */
export async function startProcess(role: string, environment: Record<string, string>): Promise<RoleProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-role-'));
  folders.push(dataDir);
  const started = startRoleProcess(role, { environment, dataDir });
  running.add(started);
  void started.exited.then(() => running.delete(started));
  return started;
}
