import type { Command } from 'commander';
import { newApiKeyBody, rotateKeyBody, type ApiKeyView, type NewApiKeyView } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
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
      const keys = await call.client.call(ROUTES.listApiKeys);
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
      return newKeyOutput(await call.client.call(ROUTES.createApiKey, { body, key: call.key }));
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
      const params = { key_id: call.argument(0) };
      return newKeyOutput(await call.client.call(ROUTES.rotateApiKey, { params, body, key: call.key }));
    },
  });
  addCommand(key, tools, {
    usage: 'revoke <key>',
    summary: 'revoke a key immediately',
    examples: ['towhook key revoke 5b0e…'],
    run: async (call) => {
      const id = call.argument(0);
      await call.client.call(ROUTES.revokeApiKey, { params: { key_id: id } });
      return { json: { id, revoked: true }, lines: [`${id} is no longer valid.`] };
    },
  });
}

function keyTable(keys: readonly ApiKeyView[]): string[] {
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
function newKeyOutput(key: NewApiKeyView | ApiKeyView): CommandOutput {
  const { id, name, role, previous_valid_until } = key;
  const secret = 'api_key' in key ? key.api_key : null;
  const newSecret = `For a new secret: towhook key rotate ${id}`;
  return {
    json: key,
    ifNotPrinted: newSecret,
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
            `again. ${newSecret}`,
          ]
        : ['Store the secret now. It is not shown again.']),
    ],
  };
}
