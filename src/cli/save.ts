import { writeFile } from 'node:fs/promises';
import { codeOf } from '../platform/system-error';
import { WrongUse } from './problems';
import type { Call, Shown } from './verb';

/** Writes what was fetched into the file of `--output`. Throws WrongUse when that cannot be written. */
export async function savedTo(call: Call, bytes: ArrayBuffer): Promise<Shown> {
  const file = call.text('output') ?? '';
  try {
    await writeFile(file, Buffer.from(bytes));
  } catch (error) {
    throw new WrongUse([{ field: '--output', rule: `cannot be written (${codeOf(error) ?? 'no reason given'})` }]);
  }
  return { json: { file, bytes: bytes.byteLength }, lines: [`${file}: ${bytes.byteLength} bytes`] };
}
