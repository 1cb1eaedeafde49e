import type { Command } from 'commander';
import { answerOf, type AuditEntry } from '../client';
import { LIST_OPTIONS, shownList } from './listing';
import { addVerb, option, type Tools } from './verb';
import { riyadhTime, shown, table } from './words';

/** `towhook audit …` */
export function addAudit(program: Command, tools: Tools): void {
  const audit = program
    .command('audit')
    .summary('what people did: who, what, when and why')
    .description(
      'What people did and is not archived yet. That nothing was changed or cut off is checked where it lies:\n`npm run audit -- verify`.',
    );
  addVerb(audit, tools, {
    usage: 'list',
    summary: 'what people did, newest first',
    options: [option('--tow <reference>', 'only what was done to this tow'), ...LIST_OPTIONS],
    examples: ['towhook audit list', 'towhook audit list --tow TW-20261120-ABC123'],
    act: (call) => {
      const ref = call.text('tow');
      const filter = ref === undefined ? {} : { towing_reference_id: ref };
      return shownList(
        call,
        (page) => answerOf(call.client.GET('/api/audit', { params: { query: { ...filter, ...page } } })),
        auditTable,
      );
    },
  });
}

function auditTable(entries: readonly AuditEntry[]): string[] {
  return table(
    ['at (Riyadh)', 'who', 'role', 'what', 'to', 'why'],
    entries.map((entry) => [
      riyadhTime(entry.at),
      entry.by,
      entry.role,
      entry.action,
      shown(Object.values(entry.on).join(' ')),
      shown(entry.why),
    ]),
  );
}
