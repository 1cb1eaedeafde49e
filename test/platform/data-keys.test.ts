import { ConfigurationError } from '../../src/platform/config/config';
import { DataKeys, openDataKeys, keyIdOf } from '../../src/platform/data-keys';
import { dataKeysText, linesOf, useDataKeysFile } from '../support/data-keys';

const file = useDataKeysFile();
const KEY = Buffer.alloc(32, 7).toString('base64');
const PLACE = 'tow:T1\nhead';

function openedFrom(text: string): DataKeys {
  return new DataKeys('', text);
}

test('an encrypted text names the first key, shows nothing of the text, and opens at its place under every key', () => {
  const text = dataKeysText('b', 'a');
  const encrypted = openedFrom(linesOf(text, 'a')).encrypt(PLACE, 'لوحة ABJ 1235');

  expect(encrypted).toMatch(/^aes:1:a:[A-Za-z0-9+/]+=*$/);
  expect(Buffer.from(encrypted.split(':')[3] ?? '', 'base64').toString()).not.toContain('ABJ');
  expect(keyIdOf(encrypted)).toBe('a');
  expect(openedFrom(text).decrypt(PLACE, encrypted)).toEqual({ kind: 'text', text: 'لوحة ABJ 1235' });
  expect(keyIdOf(openedFrom(text).encrypt(PLACE, ''))).toBe('b');
});

test('the same text is encrypted differently each time', () => {
  const keys = openedFrom(dataKeysText('a'));
  expect(keys.encrypt(PLACE, 'x')).not.toBe(keys.encrypt(PLACE, 'x'));
});

test('an encrypted text does not open at another place, after a change, under another key of the same id, or cut off', () => {
  const keys = openedFrom(dataKeysText('a'));
  const encrypted = keys.encrypt(PLACE, 'ABJ 1235');
  const middle = Math.floor(encrypted.length / 2);
  const flipped = `${encrypted.slice(0, middle)}${encrypted[middle] === 'A' ? 'B' : 'A'}${encrypted.slice(middle + 1)}`;

  expect(keys.decrypt('tow:T2\nhead', encrypted)).toEqual({ kind: 'changed' });
  expect(keys.decrypt(PLACE, flipped)).toEqual({ kind: 'changed' });
  expect(keys.decrypt(PLACE, encrypted.slice(0, 20))).toEqual({ kind: 'changed' });
  expect(openedFrom(dataKeysText('a')).decrypt(PLACE, encrypted)).toEqual({ kind: 'changed' });
  expect(openedFrom(dataKeysText('b')).decrypt(PLACE, encrypted)).toEqual({ kind: 'unknown_key' });
});

test('a text that is not encrypted is returned as it is', () => {
  expect(openedFrom(dataKeysText('a')).decrypt(PLACE, '{"plate":"ABJ 1235"}')).toEqual({
    kind: 'text',
    text: '{"plate":"ABJ 1235"}',
  });
});

test.each([
  ['', 'names a file without a key for data'],
  ['s\0e\0a\0', 'must name a file in UTF-8; this one is UTF-16 or binary'],
  [`search:${KEY}`, 'names a file without a key for data'],
  [`a:${KEY}`, 'names a file without the line search:<base64 of 32 bytes>'],
  [`search:${KEY}\na:${KEY}\na:${KEY}`, 'names a file that has the id a twice'],
  [`search:${KEY}\na:${KEY.slice(4)}`, 'names a file whose line 2 is not <id>:<base64 of 32 bytes>'],
  [`search:${KEY}\n\n# old\nA secret`, 'names a file whose line 4 is not <id>:<base64 of 32 bytes>'],
])('the file %j is refused with a rule that shows no key', async (text, rule) => {
  await file.write(text);
  expect(() => openDataKeys({ dataKeysFile: file.path })).toThrow(
    new ConfigurationError([{ variable: 'DATA_KEYS_FILE', rule }]),
  );
});

test('a file that cannot be read is refused, and without a file there are no keys', () => {
  expect(() => openDataKeys({ dataKeysFile: `${file.path}.absent` })).toThrow(
    'DATA_KEYS_FILE names a file that cannot be read (ENOENT)',
  );
  expect(openDataKeys({ dataKeysFile: null })).toBeNull();
});

test('a file that is read again replaces the keys, and one that cannot be used leaves the earlier keys', async () => {
  const text = dataKeysText('a', 'b');
  await file.write(linesOf(text, 'a'));
  const keys = openDataKeys({ dataKeysFile: file.path });

  await file.write(linesOf(text, 'b', 'a'));
  await keys?.reload();
  expect(keys?.ids).toEqual(['b', 'a']);
  await file.write('broken');
  await expect(keys?.reload()).rejects.toThrow(ConfigurationError);
  expect(keys?.first).toBe('b');
});
