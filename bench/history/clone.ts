import { deflateRawSync, deflateSync, gzipSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/**
 * Redis commands that write a record, with the ids of one tow in them. A clone is the same commands with other ids. Bytes
 * travel as latin1 text, one character per byte.
 */

/** An argument of a command. */
type Argument = { readonly text: string } | { readonly text: string; readonly pack: (bytes: Buffer) => Buffer };
export type CommandTemplate = readonly Argument[];

/** What to write instead of an id. */
export type Replacement = readonly [from: string, to: string];

const PACKINGS = [
  [inflateSync, deflateSync],
  [gunzipSync, gzipSync],
  [inflateRawSync, deflateRawSync],
] as const;

/** Turns the arguments of a command into a template. Compressed arguments are replaced in their plain form. */
export function templateOf(parts: readonly (Buffer | string | number)[], ids: readonly string[]): CommandTemplate {
  return parts.map((part) => {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(String(part), 'latin1');
    // Compressed bytes may contain an id as it is; changing it there would break their checksum.
    return unpacked(bytes, ids) ?? { text: bytes.toString('latin1') };
  });
}

/** True when the text names one of the ids. */
export function containsAny(text: string, ids: readonly string[]): boolean {
  return ids.some((id) => text.includes(id));
}

function unpacked(bytes: Buffer, ids: readonly string[]): Argument | null {
  for (const [unpack, pack] of PACKINGS) {
    try {
      const text = unpack(bytes).toString('latin1');
      if (containsAny(text, ids)) return { text, pack: (plain) => pack(plain) };
    } catch {
      // Not packed in this way.
    }
  }
  return null;
}

/** The arguments of a clone's command. */
export function cloned(template: CommandTemplate, replacements: readonly Replacement[]): Buffer[] {
  return template.map((argument) => {
    const text = replacements.reduce((changed, [from, to]) => changed.replaceAll(from, to), argument.text);
    const bytes = Buffer.from(text, 'latin1');
    return 'pack' in argument ? argument.pack(bytes) : bytes;
  });
}
