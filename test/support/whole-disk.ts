import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { filesIn } from '../spool/world';

/**
 * Everything below a folder as text: each path, and its bytes, of which ASCII stays readable. What gzip has compressed is
 * uncompressed.
 */
export async function textOfFiles(folder: string): Promise<string> {
  const paths = await filesIn(folder);
  const texts = await Promise.all(paths.map((path) => textOfFile(join(folder, path))));
  return paths.map((path, at) => `${path} ${texts[at]}`).join('\n');
}

async function textOfFile(path: string): Promise<string> {
  const bytes = await readFile(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
}
