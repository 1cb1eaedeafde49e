import type { Command } from 'commander';
import { addCommand, option, type CommandTools } from './command';
import type { LocalCommands } from './local';

/** `towhook reseal`: seals the personal data in Redis and DATA_DIR under the first data key. */
export function addReseal(program: Command, { tools, local }: { tools: CommandTools; local: LocalCommands }): void {
  const command = addCommand(program, tools, {
    usage: 'reseal',
    summary: 'seal personal data, images and the archive under the first data key',
    options: [option('--check', 'print how many values are sealed under which key, and change nothing')],
    examples: ['towhook reseal --check', 'towhook reseal'],
    async run(call) {
      const progress = call.terminal.progress('keys of Redis, images and archive files', null);
      try {
        return await local.reseal({ isCheck: call.flag('check'), onStep: (done) => progress?.at(done) });
      } finally {
        progress?.end();
      }
    },
  });
  command.description(ABOUT);
}

const ABOUT = `Seals all personal data in Redis, and the images and the archive in DATA_DIR, under the first key of DATA_KEYS_FILE, with the environment of the roles, on a machine that has the disk, beside running processes. Run it after a new key is the first one in all processes, and once after the file was added. See docs/operations/encryption.md.

It may be ended and run again at any time. An image and a batch of the archive count as one value each. The file of the archive that is written today stays as it is. The exit code is 0 when everything is sealed under the first key, 1 when something is not, 2 when a key of the file is another one than that of the stored data, and 3 when Redis does not answer, or DATA_DIR is not the disk in use or cannot be written.`;
