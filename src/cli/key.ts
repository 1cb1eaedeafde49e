import type { Command } from 'commander';
import { answerOf, type ApiKey, type NewApiKey } from '../client';
import { newApiKeyBody, rotateKeyBody } from '../contracts/operator';
import { ROLES } from '../domain/vocabulary';
import { addCommand, checked, numberOption, option, type CommandOutput, type CommandTools } from './command';
import { pairs, riyadhTime, table } from './format';

/** `towhook key …` */
export function addKey(program: Command, tools: CommandTools): void {
  const key = program
    .command('key')
    .summary('API keys of people and programs')
    .description(
      'API keys of people and programs. Each role includes the rights of the roles before it: viewer reads; crew records\n' +
        'started and detained; dispatcher records all facts and decides; ops administers.',
    );
  addCommand(key, tools, {
    usage: 'list',
    summary: 'list API keys, without their secrets',
    examples: ['towhook key list'],
    run: async (call) => {
      const keys = await answerOf(call.client.GET('/api/keys'));
      return { json: keys, lines: keyTable(keys.items) };
    },
  });
  addCommand(key, tools, {
    usage: 'create',
    summary: 'make an API key; its secret is printed once',
    options: [option('--name <name>', 'name of the holder'), option('--role <role>', 'role', ROLES)],
    examples: [
      'towhook key create --name yard --role crew',
      'towhook key create --name dispatch --role dispatcher --json',
    ],
    changes: true,
    run: async (call) => {
      const body = checked(newApiKeyBody, { name: call.text('name'), role: call.text('role') });
      return newKeyOutput(await answerOf(call.client.POST('/api/keys', { params: { header: call.header }, body })));
    },
  });
  addCommand(key, tools, {
    usage: 'rotate <key>',
    summary: 'give a key a new secret, printed once; the old one stays valid for the grace hours',
    options: [numberOption('--grace-hours <hours>', 'how long the old secret stays valid; default 24')],
    examples: ['towhook key rotate 5b0e… --grace-hours 1'],
    changes: true,
    run: async (call) => {
      const body = checked(rotateKeyBody, { grace_hours: call.number('graceHours') });
      const params = { path: { key_id: call.argument(0) }, header: call.header };
      return newKeyOutput(await answerOf(call.client.POST('/api/keys/{key_id}/rotate', { params, body })));
    },
  });
  addCommand(key, tools, {
    usage: 'revoke <key>',
    summary: 'revoke a key immediately',
    examples: ['towhook key revoke 5b0e…'],
    run: async (call) => {
      const id = call.argument(0);
      await call.client.DELETE('/api/keys/{key_id}', { params: { path: { key_id: id } } });
      return { json: { id, revoked: true }, lines: [`${id} is no longer valid.`] };
    },
  });
}

function keyTable(keys: readonly ApiKey[]): string[] {
  return table(
    ['key', 'name', 'role', 'created (Riyadh)', 'old secret valid until'],
    keys.map(({ id, name, role, created_at, previous_valid_until }) => [
      id,
      name,
      role,
      riyadhTime(created_at),
      riyadhTime(previous_valid_until),
    ]),
  );
}

/** The answer to a repeated run has no secret. */
function newKeyOutput(key: NewApiKey | ApiKey): CommandOutput {
  const { id, name, role, previous_valid_until } = key;
  const secret = 'api_key' in key ? key.api_key : null;
  return {
    json: key,
    lines: [
      ...pairs([
        ['key', id],
        ['name', name],
        ['role', role],
        ['secret', secret ?? 'not shown again'],
        ['old secret valid until', riyadhTime(previous_valid_until)],
      ]),
      '',
      ...(secret === null
        ? [
            'The key exists. Its secret was shown once, in the first answer to this Idempotency-Key, and cannot be shown',
            `again. For a new secret: towhook key rotate ${id}`,
          ]
        : ['Store the secret now. It is not shown again.']),
    ],
  };
}
