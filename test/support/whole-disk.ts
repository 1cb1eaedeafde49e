import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesIn } from '../spool/world';

/** Everything below a folder as text: each path, and its bytes, of which ASCII stays readable. */
export async function textOfFiles(folder: string): Promise<string> {
  const paths = await filesIn(folder);
  const texts = await Promise.all(paths.map((path) => readFile(join(folder, path), 'latin1')));
  return paths.map((path, at) => `${path} ${texts[at]}`).join('\n');
}
