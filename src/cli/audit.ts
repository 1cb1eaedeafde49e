import type { Command } from 'commander';
import { LIST_OPTIONS, listOutput } from './list-command';
import { notedHead, type AuditView } from '../contracts/audit';
import { ROUTES } from '../contracts/operator-routes';
import { addCommand, option, type CommandTools } from './command';
import { riyadhTime, textOrDash, table } from './format';
import type { LocalCommands } from './local';
import { UsageError } from './problems';

/** `towhook audit …` */
export function addAudit(program: Command, { tools, local }: { tools: CommandTools; local: LocalCommands }): void {
  const audit = program.command('audit').description('the audit log: who did what, when and why');
  addCommand(audit, tools, {
    usage: 'list',
    summary: 'list audit entries that are not archived yet, newest first',
    options: [option('--tow <reference>', 'only entries about this tow'), ...LIST_OPTIONS],
    examples: ['towhook audit list', 'towhook audit list --tow TW-20261120-ABC123'],
    run: (call) => {
      const ref = call.text('tow');
      const filter = ref === undefined ? {} : { towing_reference_id: ref };
      return listOutput(
        call,
        (page) => call.client.call(ROUTES.listAudit, { query: { ...filter, ...page } }),
        auditTable,
      );
    },
  });
  addCommand(audit, tools, {
    usage: 'verify [head]',
    summary: 'check that no entry was changed or removed, through archive and Redis; exit code 1 if one was',
    examples: ['towhook audit verify', 'towhook audit verify 1024:da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    run: (call) => local.verifyAudit(headIn(call.argument(0))),
  }).description(ABOUT_VERIFY);
}

const ABOUT_VERIFY = `Follows the hash chain of the audit through the archive below DATA_DIR and Redis, with the environment of the roles. It prints the head of the chain. Keep the head elsewhere and pass it next time: this is the only way to see that entries were cut off the end.`;

/** The head of an earlier check; null when none is given. */
function headIn(text: string) {
  if (text === '') return null;
  const head = notedHead.safeParse(text);
  if (head.success) return head.data;
  throw new UsageError([{ field: 'head', rule: 'must be <seq>:<hash>, as printed by an earlier check' }]);
}

function auditTable(entries: readonly AuditView[]): string[] {
  return table(
    ['at (Riyadh)', 'who', 'role', 'what', 'to', 'why'],
    entries.map((entry) => [
      riyadhTime(entry.at),
      entry.by,
      entry.role,
      entry.action,
      textOrDash(Object.values(entry.on).join(' ')),
      textOrDash(entry.why),
    ]),
  );
}
