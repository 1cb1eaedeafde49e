import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Express, RequestHandler } from 'express';

/**
 * Styles, scripts and fonts of the console and its libraries, served by this process only. The address contains a hash
 * of the content, so browsers cache it for a year.
 */
export interface Assets {
  /** The address of an asset by its name, such as `console.css`. Throws when there is none. */
  url(name: string): string;
}

const FOLDER = join(__dirname, 'assets');
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
};

/** Files of libraries by the name they are served under. */
const LIBRARY_FILES: Readonly<Record<string, readonly [library: string, file: string]>> = {
  'htmx.js': ['htmx.org', 'dist/htmx.min.js'],
  'idiomorph.js': ['idiomorph', 'dist/idiomorph-ext.min.js'],
  'uplot.js': ['uplot', 'dist/uPlot.iife.min.js'],
  'uplot.css': ['uplot', 'dist/uPlot.min.css'],
  ...Object.fromEntries(
    ['latin', 'arabic'].flatMap((script) =>
      ['400', '600'].map((weight) => {
        const file = `readex-pro-${script}-${weight}-normal.woff2`;
        return [file, ['@fontsource/readex-pro', `files/${file}`]] as const;
      }),
    ),
  ),
};

/** Reads every asset once, and serves them under `/assets/`. */
export function serveAssets(app: Express, compress: RequestHandler): Assets {
  const files = new Map([...libraryFiles(), ...ownScripts(), ...ownPictures(), ...ownStyles()]);
  const version = createHash('sha256');
  for (const [name, content] of files) version.update(name).update(content);
  const base = `/assets/${version.digest('hex').slice(0, 12)}`;
  app.get(`${base}/:name`, compress, async (request, response, next) => {
    const { name } = request.params;
    const content = typeof name === 'string' ? files.get(name) : undefined;
    if (!content || typeof name !== 'string') return next();
    response
      .set('cache-control', 'public, max-age=31536000, immutable')
      .type(TYPES[extname(request.path)] ?? 'application/octet-stream');
    if (extname(name) === '.woff2' || request.acceptsEncodings('br') !== 'br') return void response.send(content);
    response
      .set('content-encoding', 'br')
      .vary('accept-encoding')
      .send(await compressedOnce(`${base}/${name}`, content));
  });
  return {
    url(name) {
      if (!files.has(name)) throw new Error(`there is no asset ${name}`);
      return `${base}/${name}`;
    },
  };
}

const brotli = promisify(brotliCompress);

/** Compressed assets by address. */
const compressed = new Map<string, Promise<Buffer>>();

/** Compresses an asset once per process at the highest quality, which takes up to half a second for all of them. */
function compressedOnce(address: string, content: Buffer): Promise<Buffer> {
  const known = compressed.get(address);
  if (known !== undefined) return known;
  const small = brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } });
  compressed.set(address, small);
  return small;
}

type NamedFile = readonly [name: string, content: Buffer];

function libraryFiles(): NamedFile[] {
  return Object.entries(LIBRARY_FILES).map(([name, [library, file]]) => [name, readLibraryFile(library, file)]);
}

function readLibraryFile(library: string, file: string): Buffer {
  // Not every library exports its files, so they are looked up on the module search path.
  const folders = require.resolve.paths(library) ?? [];
  const path = folders.map((folder) => join(folder, library, file)).find((each) => existsSync(each));
  if (path === undefined) throw new Error(`${library} is not installed, or has no ${file}`);
  return readFileSync(path);
}

function ownScripts(): NamedFile[] {
  return namesIn('scripts', '.js').map((name) => {
    const text = readFileSync(join(FOLDER, 'scripts', name), 'utf8');
    return [name, shortened(text)];
  });
}

/** Without comments on lines of their own, empty lines and indentation: a third of the bytes of a script. */
function shortened(text: string): Buffer {
  return Buffer.from(text.replace(/^[ \t]*(?:\/\*[^]*?\*\/|\/\/.*)\n/gm, '').replace(/^\s+/gm, ''));
}

function ownPictures(): NamedFile[] {
  return namesIn('pictures', '.svg').map((name) => [name, readFileSync(join(FOLDER, 'pictures', name))]);
}

/** The styles of every page, and those of the ops pages alone. */
function ownStyles(): NamedFile[] {
  return [
    ['console.css', sheetOf('styles')],
    ['ops.css', sheetOf(join('styles', 'ops'))],
  ];
}

/** The styles of a folder as one sheet, in the order of the file names. */
function sheetOf(folder: string): Buffer {
  const sheets = namesIn(folder, '.css').map((name) => readFileSync(join(FOLDER, folder, name), 'utf8'));
  return shortened(sheets.join(''));
}

function namesIn(folder: string, ending: string): string[] {
  return readdirSync(join(FOLDER, folder))
    .filter((name) => name.endsWith(ending))
    .toSorted();
}
