import { posix } from 'node:path';
import type { LayerRule } from './layers';
import { isNode, syntaxNodes, textOf, type Source, type SyntaxNode } from './sources';

interface Import {
  /** As written: `../domain/tow`, `express`, `node:fs`. */
  readonly name: string;
  readonly onlyTypes: boolean;
}

/** Every import that the layer rules forbid, as a sentence with the reason. */
export function brokenImports(sources: readonly Source[], layers: Readonly<Record<string, LayerRule>>): string[] {
  return sources.flatMap((source) => {
    const folder = folderOf(source.path);
    const rule = layers[folder];
    if (rule === undefined) return [`${source.path}: the folder "${folder}" has no layer (layers.ts)`];
    return readImports(source)
      .filter((item) => !isAllowed(item, source.path, folder, rule))
      .map((item) => `${source.path}: "${folder}" must not import "${item.name}": ${rule.why}`);
  });
}

function isAllowed(item: Import, path: string, folder: string, rule: LayerRule): boolean {
  if (item.name.startsWith('.')) {
    const target = folderOf(posix.join(posix.dirname(path), item.name));
    return target === folder || rule.folders.includes(target);
  }
  const isListed = (libraries: readonly string[]) => libraries.some((library) => matches(item.name, library));
  return isListed(rule.libraries) || (item.onlyTypes && isListed(rule.typesOf ?? []));
}

/** `node:*` matches `node:fs`; `express` matches `express` and `express/lib/router`. */
function matches(name: string, library: string): boolean {
  if (library.endsWith('*')) return name.startsWith(library.slice(0, -1));
  return name === library || name.startsWith(`${library}/`);
}

/** `src/domain/tow/tow.ts` lies in `domain`, `jobs/send.ts` in `jobs`; what lies elsewhere in no layer. */
function folderOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'src' ? second : first;
}

function readImports(source: Source): Import[] {
  return syntaxNodes(source).flatMap((node) => {
    const name = importedName(node);
    return name === null ? [] : [{ name, onlyTypes: isTypesOnly(node) }];
  });
}

function importedName(node: SyntaxNode): string | null {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return textOf(node['source']);
    case 'TsImportType':
      return textOf(node['argument']);
    case 'TsExternalModuleReference':
      return textOf(node['expression']);
    case 'CallExpression':
      return loadedName(node);
    default:
      return null;
  }
}

/** `require('x')` and `import('x')`. */
function loadedName(call: SyntaxNode): string | null {
  const { callee, arguments: given } = call;
  const loads = isNode(callee) && (callee.type === 'Import' || textOf(callee) === 'require');
  if (!loads || !Array.isArray(given)) return null;
  const first: unknown = given[0];
  if (typeof first !== 'object' || first === null || !('expression' in first)) return null;
  return textOf(first.expression);
}

function isTypesOnly(node: SyntaxNode): boolean {
  if (node.type === 'TsImportType' || node['typeOnly'] === true) return true;
  const { specifiers } = node;
  return (
    Array.isArray(specifiers) && specifiers.length > 0 && specifiers.every((item: unknown) => isTypeSpecifier(item))
  );
}

function isTypeSpecifier(item: unknown): boolean {
  return isNode(item) && item['isTypeOnly'] === true;
}
