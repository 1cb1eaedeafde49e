import type { Command } from 'commander';
import { answerOf, type ApiKey, type NewApiKey } from '../client';
import { newApiKeyBody, rotateKeyBody } from '../contracts/operator';
import { ROLES } from '../domain/vocabulary';
import { addVerb, checked, numberOption, option, type Shown, type Tools } from './verb';
import { pairs, riyadhTime, table } from './words';

/** `towhook key …`: who may call the API, and as what. */
export function addKey(program: Command, tools: Tools): void {
  const key = program
    .command('key')
    .summary('API keys of people and programs')
    .description(
      'API keys of people and programs. Roles, each with the rights of the ones before it: viewer reads, crew says\n' +
        'started and detained, dispatcher says all facts and decides, ops runs the house.',
    );
  addVerb(key, tools, {
    usage: 'list',
    summary: 'the keys; never the keys themselves',
    examples: ['towhook key list'],
    act: async (call) => {
      const keys = await answerOf(call.client.GET('/api/keys'));
      return { json: keys, lines: keyTable(keys.items) };
    },
  });
  addVerb(key, tools, {
    usage: 'create',
    summary: 'make a key; it is shown once and never again',
    options: [option('--name <name>', 'whose it is'), option('--role <role>', 'what it may do', ROLES)],
    examples: [
      'towhook key create --name yard --role crew',
      'towhook key create --name dispatch --role dispatcher --json',
    ],
    changes: true,
    act: async (call) => {
      const body = checked(newApiKeyBody, { name: call.text('name'), role: call.text('role') });
      return shownNewKey(await answerOf(call.client.POST('/api/keys', { params: { header: call.header }, body })));
    },
  });
  addVerb(key, tools, {
    usage: 'rotate <key>',
    summary: 'give a key a new text, shown once; the old one stays valid for a while',
    options: [numberOption('--grace-hours <hours>', 'how long the old text stays valid, 24 when left out')],
    examples: ['towhook key rotate 5b0e… --grace-hours 1'],
    changes: true,
    act: async (call) => {
      const body = checked(rotateKeyBody, { grace_hours: call.number('graceHours') });
      const params = { path: { key_id: call.argument(0) }, header: call.header };
      return shownNewKey(await answerOf(call.client.POST('/api/keys/{key_id}/rotate', { params, body })));
    },
  });
  addVerb(key, tools, {
    usage: 'revoke <key>',
    summary: 'end a key at once',
    examples: ['towhook key revoke 5b0e…'],
    act: async (call) => {
      const id = call.argument(0);
      await call.client.DELETE('/api/keys/{key_id}', { params: { path: { key_id: id } } });
      return { json: { id, revoked: true }, lines: [`${id} is no longer valid.`] };
    },
  });
}

function keyTable(keys: readonly ApiKey[]): string[] {
  return table(
    ['key', 'name', 'role', 'made (Riyadh)', 'old text valid until'],
    keys.map(({ id, name, role, created_at, previous_valid_until }) => [
      id,
      name,
      role,
      riyadhTime(created_at),
      riyadhTime(previous_valid_until),
    ]),
  );
}

function shownNewKey(key: NewApiKey): Shown {
  const { id, name, role, api_key, previous_valid_until } = key;
  return {
    json: key,
    lines: [
      ...pairs([
        ['key', id],
        ['name', name],
        ['role', role],
        ['text', api_key],
        ['old text valid until', riyadhTime(previous_valid_until)],
      ]),
      '',
      'Keep the text now: it is not shown again.',
    ],
  };
}
