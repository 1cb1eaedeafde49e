import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testServer } from '../support/redis';

/** Writes a shell script that can be run. */
export async function writeProgram(folder: string, name: string, lines: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  await chmod(path, 0o755);
  return path;
}

/** The lines of a program that is the real server under another name. */
export async function realServerLines(): Promise<readonly string[]> {
  const { path, libraryFolder } = await testServer();
  return [`LD_LIBRARY_PATH='${libraryFolder ?? ''}' exec '${path}' "$@"`];
}

/**
 * The package tools of a Debian system, as far as a private copy needs them: `redis-tools` (the real server inside)
 * needs libmissing1 and libinstalled; only the second is installed. Every call of `apt-get` is noted in `calls`.
 */
export async function writePackageTools(folder: string, options: { systemLists: boolean }): Promise<void> {
  const serverLines = (await realServerLines()).join('\n');
  const refuse = options.systemLists
    ? ''
    : 'case "$*" in *Dir::State::lists*) ;; *) echo "E: no lists" >&2; exit 100 ;; esac';
  await writeProgram(folder, 'apt-get', [
    `echo "$*" >> '${folder}/calls'`,
    refuse,
    'for word; do [ -n "$names" ] && touch "$word.deb"; [ "$word" = download ] && names=1; done',
    'exit 0',
  ]);
  await writeProgram(folder, 'dpkg-query', ['case "$*" in *libinstalled) echo installed ;; *) exit 1 ;; esac']);
  await writeProgram(folder, 'dpkg-deb', [
    'case "$1 $2" in',
    '  "-f "*redis-tools.deb) echo "adduser, libinstalled (>= 2), libmissing1:any | libother" ;;',
    `  "-x "*redis-tools.deb) mkdir -p "$3/usr/bin"; cat > "$3/usr/bin/redis-check-rdb" <<'PROGRAM'`,
    `#!/bin/sh\n${serverLines}`,
    'PROGRAM',
    '  chmod +x "$3/usr/bin/redis-check-rdb" ;;',
    '  "-x "*libmissing1.deb) mkdir -p "$3/usr/lib/here"; touch "$3/usr/lib/here/libmissing.so.1" ;;',
    'esac',
  ]);
}
