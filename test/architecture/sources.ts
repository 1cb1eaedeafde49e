import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { parseSync } from '@swc/core';
import { PROJECT } from '../support/project';

/** A file of the project; the path is relative to its root, with slashes. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** All files under these folders of the project whose names end as given; a folder that is not there has none. */
export function readSources(folders: readonly string[], endings: readonly string[]): Source[] {
  return folders
    .flatMap((folder) => listFiles(join(PROJECT, folder)))
    .filter((file) => endings.some((ending) => file.endsWith(ending)))
    .map((file) => ({ path: relative(PROJECT, file).split(sep).join('/'), text: readFileSync(file, 'utf8') }));
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted();
  } catch {
    return [];
  }
}

/** A node of a syntax tree, with its fields unread. */
export type SyntaxNode = Readonly<Record<string, unknown>> & { readonly type: string };

/** Every node of a TypeScript file, parents first. */
export function syntaxNodes(source: Source): SyntaxNode[] {
  try {
    return [
      ...walk(parseSync(source.text, { syntax: 'typescript', tsx: source.path.endsWith('.tsx'), target: 'es2022' })),
    ];
  } catch (error) {
    throw new Error(`${source.path} cannot be parsed`, { cause: error });
  }
}

function* walk(value: unknown): Generator<SyntaxNode> {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) yield value;
  for (const child of Object.values(value)) yield* walk(child);
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The text of an identifier or of a string in quotes; null for any other node. */
export function textOf(value: unknown): string | null {
  if (!isNode(value)) return null;
  if (value.type === 'Computed') return textOf(value['expression']);
  return typeof value['value'] === 'string' ? value['value'] : null;
}
