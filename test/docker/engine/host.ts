import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compiledFile } from '../../support/compiled';

/**
 * A host for containers: a shell with a network, mounts and processes of its own, in which `docker` is the stand-in of
 * this folder. What it starts ends with it. Needs root.
 */
export interface ContainerHost {
  /** Runs a command and returns its output. Rejects with the output when it fails. */
  run(command: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startContainerHost({ folder, bin }: { folder: string; bin: string }): Promise<ContainerHost> {
  mkdirSync(bin, { recursive: true });
  const docker = join(bin, 'docker');
  const program = compiledFile('test/docker/engine/docker.ts');
  writeFileSync(docker, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(docker, 0o755);
  const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const shell = spawn('unshare', [...namespaces, 'bash'], {
    cwd: folder,
    env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()));
  let output = '';
  let heard: (() => void) | null = null;
  shell.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    heard?.();
  });
  void ended.then(() => heard?.());
  const host: ContainerHost = {
    async run(command) {
      const mark = `end-${randomUUID()}`;
      output = '';
      // A command with the standard input of the shell would read the next command.
      shell.stdin.write(`( ${command}\n) </dev/null 2>&1; echo "${mark}:$?"\n`);
      while (!output.includes(`${mark}:`) && shell.exitCode === null) {
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
      const [text = '', status = ''] = output.split(`${mark}:`);
      if (Number.parseInt(status, 10) !== 0) throw new Error(`${command}\nended with ${status.trim()}:\n${text}`);
      return text;
    },
    async stop() {
      shell.kill('SIGKILL');
      await ended;
    },
  };
  // Names of networks are stored below /run.
  await host.run('mount --make-rprivate / && mount -t tmpfs run /run');
  return host;
}
