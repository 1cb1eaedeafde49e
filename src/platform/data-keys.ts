import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  type CipherGCM,
  type DecipherGCM,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ConfigurationError } from './config/config';
import { errorCode } from './errors';
import { NOT_UTF_8_RULE } from './config/secret-files';

/**
 * The keys that encrypt personal data at rest, from the file of DATA_KEYS_FILE. Each line is `<id>:<base64 of 32 bytes>`.
 * The first key encrypts, all decrypt. The line `search` is the key of search terms, which is never replaced.
 *
 * An encrypted text is `aes:1:<key id>:<base64>`: AES-256-GCM with a random nonce of 96 bits, then the encrypted text and
 * its tag of 128 bits. The place of the value is authenticated with it, so that it cannot be decrypted at another place.
 * An encrypted file begins in the same way, and its bytes follow as they are (encrypted-file.ts).
 */

const VARIABLE = 'DATA_KEYS_FILE';
const SEARCH = 'search';
const PREFIX = 'aes:1:';
const ENCRYPTED = /^aes:1:([a-z0-9._-]{1,32}):/;
const LINE = /^([a-z0-9._-]{1,32}):([A-Za-z0-9+/]{43}=)$/;
const CIPHER = 'aes-256-gcm';
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
/** Bytes of a hashed search term: two of a billion terms are the same with a probability below 10^-20. */
const TERM_BYTES = 16;

interface KeySet {
  readonly first: string;
  readonly keys: ReadonlyMap<string, Buffer>;
  readonly search: Buffer;
}

/** `unknown_key`: this process lacks the key. `changed`: the value was changed, or belongs to another place. */
type Unreadable = { readonly kind: 'unknown_key' } | { readonly kind: 'changed' };
type Decrypted = { readonly kind: 'text'; readonly text: string } | Unreadable;
export type DecryptedBytes = { readonly kind: 'bytes'; readonly bytes: Buffer } | Unreadable;

/** The id of the key that a text is encrypted under; null for a plain text. */
export function keyIdOf(text: string): string | null {
  return text.startsWith(PREFIX) ? (ENCRYPTED.exec(text)?.[1] ?? null) : null;
}

/** How every text and file begins that is encrypted under a key. */
export function encryptedPrefix(id: string): string {
  return `${PREFIX}${id}:`;
}

/** Encrypts one value under a key. */
interface Encryption {
  readonly id: string;
  readonly nonce: Buffer;
  readonly cipher: CipherGCM;
}

/** The keys of a process. The file may be read again while it runs. */
export class DataKeys {
  #set: KeySet;
  #isFileUnusable = false;

  constructor(
    private readonly file: string,
    text: string,
  ) {
    this.#set = keySetIn(text);
  }

  /** True while the file cannot be used, and the keys of an earlier reading are in place. */
  get isFileUnusable(): boolean {
    return this.#isFileUnusable;
  }

  /** The id of the key that encrypts. */
  get first(): string {
    return this.#set.first;
  }

  /** The ids of the keys of data. */
  get ids(): readonly string[] {
    return [...this.#set.keys.keys()];
  }

  /** The ids of all keys, with the one of search terms. */
  get allIds(): readonly string[] {
    return [...this.ids, SEARCH];
  }

  /** A value that differs for keys of the same id that differ, and shows nothing of the key; null without that key. */
  checkOf(id: string): string | null {
    const { keys, search } = this.#set;
    const key = id === SEARCH ? search : keys.get(id);
    return key === undefined ? null : createHmac('sha256', key).update('check').digest().subarray(0, 8).toString('hex');
  }

  /** Whether this is a key for data that is known here and does not encrypt any more. */
  isReplaced(id: string): boolean {
    return id !== this.first && this.#set.keys.has(id);
  }

  /** The check values of the keys that this process encrypts and hashes with, by their ids. */
  currentChecks(): ReadonlyMap<string, string> {
    return new Map([this.first, SEARCH].map((id) => [id, this.checkOf(id) ?? '']));
  }

  /**
   * Reads the file again. The earlier keys stay if it cannot be used, or if `check` rejects its keys.
   *
   * @throws ConfigurationError for a file that cannot be used, and what `check` throws.
   */
  async reload(check?: (candidate: DataKeys) => Promise<void>): Promise<void> {
    try {
      const candidate = new DataKeys(this.file, await readFile(this.file, 'utf8').catch(unreadable));
      await check?.(candidate);
      this.#set = candidate.#set;
      this.#isFileUnusable = false;
    } catch (error) {
      // Another error, such as that of a Redis that is away, says nothing about the file.
      if (error instanceof ConfigurationError) this.#isFileUnusable = true;
      throw error;
    }
  }

  /** Encrypts a text or bytes under the first key. @param place names the value, such as its key and field in Redis. */
  encrypt(place: string, value: string | Buffer): string {
    const { id, nonce, cipher } = this.cipher(place);
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    const encrypted = Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    return `${encryptedPrefix(id)}${encrypted.toString('base64')}`;
  }

  /** Begins to encrypt bytes under the first key. */
  cipher(place: string): Encryption {
    const { first, keys } = this.#set;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, keyNamed(keys, first), nonce).setAAD(Buffer.from(place));
    return { id: first, nonce, cipher };
  }

  /** Begins to decrypt bytes; its end throws if they were changed. Null without the key. */
  decipher(place: string, { id, nonce, tag }: { id: string; nonce: Buffer; tag: Buffer }): DecipherGCM | null {
    const key = this.#set.keys.get(id);
    if (key === undefined) return null;
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    return decipher.setAAD(Buffer.from(place)).setAuthTag(tag);
  }

  /** Decrypts a text. A plain text is returned as it is. */
  decrypt(place: string, text: string): Decrypted {
    if (keyIdOf(text) === null) return { kind: 'text', text };
    const found = this.decryptBytes(place, text);
    return found.kind === 'bytes' ? { kind: 'text', text: found.bytes.toString('utf8') } : found;
  }

  /** Decrypts what `encrypt` returned for bytes; `changed` for any other text. */
  decryptBytes(place: string, text: string): DecryptedBytes {
    const id = keyIdOf(text);
    if (id === null) return { kind: 'changed' };
    const encrypted = Buffer.from(text.slice(encryptedPrefix(id).length), 'base64');
    if (encrypted.length < NONCE_BYTES + TAG_BYTES) return { kind: this.#set.keys.has(id) ? 'changed' : 'unknown_key' };
    const [nonce, tag] = [encrypted.subarray(0, NONCE_BYTES), encrypted.subarray(-TAG_BYTES)];
    const decipher = this.decipher(place, { id, nonce, tag });
    if (decipher === null) return { kind: 'unknown_key' };
    try {
      const bytes = Buffer.concat([decipher.update(encrypted.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return { kind: 'bytes', bytes };
    } catch {
      return { kind: 'changed' };
    }
  }

  /** A keyed hash of a search term: equal terms have equal hashes, and only a holder of the key can make them. */
  hash(term: string): string {
    return createHmac('sha256', this.#set.search).update(term).digest().subarray(0, TERM_BYTES).toString('base64url');
  }
}

/**
 * The keys in a file; null without a file.
 *
 * @throws ConfigurationError for a file that cannot be used. It names lines and ids, and never shows a key.
 */
export function openDataKeys({ dataKeysFile }: { readonly dataKeysFile: string | null }): DataKeys | null {
  if (dataKeysFile === null) return null;
  let text: string;
  try {
    text = readFileSync(dataKeysFile, 'utf8');
  } catch (error) {
    return unreadable(error);
  }
  return new DataKeys(dataKeysFile, text);
}

function keySetIn(text: string): KeySet {
  if (text.includes('\0')) return fault(NOT_UTF_8_RULE);
  const keys = new Map<string, Buffer>();
  const lines = text.split('\n').map((line) => line.trim());
  for (const [at, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const [, id, key] = LINE.exec(line) ?? [];
    if (id === undefined || key === undefined) {
      return fault(`names a file whose line ${at + 1} is not <id>:<base64 of 32 bytes>`);
    }
    if (keys.has(id)) return fault(`names a file that has the id ${id} twice`);
    keys.set(id, Buffer.from(key, 'base64'));
  }
  const search = keys.get(SEARCH);
  keys.delete(SEARCH);
  const [first] = keys.keys();
  if (first === undefined) return fault('names a file without a key for data');
  if (search === undefined) return fault(`names a file without the line ${SEARCH}:<base64 of 32 bytes>`);
  return { first, keys, search };
}

function keyNamed(keys: ReadonlyMap<string, Buffer>, id: string): Buffer {
  const key = keys.get(id);
  if (key === undefined) throw new Error('the first key is one of the keys');
  return key;
}

function unreadable(error: unknown): never {
  return fault(`names a file that cannot be read (${errorCode(error) ?? 'failed'})`);
}

function fault(rule: string): never {
  throw new ConfigurationError([{ variable: VARIABLE, rule }]);
}
