import { isNode, syntaxNodes, textOf, type Source, type SyntaxNode } from './sources';

/** What a part takes from its surroundings, and where it is to take it from instead. */
const TAKEN: Readonly<Record<string, string>> = {
  'console.*': 'log through the Log of platform/log/log.ts',
  'process.env': 'the configuration of platform/config/config.ts is handed to you',
  'Date.now': 'take a Clock (platform/clock.ts) as a parameter',
  'new Date()': 'take a Clock (platform/clock.ts) as a parameter; new Date(ms) is fine',
  'Math.random': 'take a Clock (platform/clock.ts) as a parameter',
};

/** Every use of time, randomness, environment or console, as a sentence with the replacement. */
export function environmentUses(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    syntaxNodes(source).flatMap((node) => {
      const taken = takes(node);
      return taken === null ? [] : [`${source.path}: ${taken} belongs to src/platform: ${TAKEN[taken] ?? ''}`];
    }),
  );
}

function takes(node: SyntaxNode): keyof typeof TAKEN | null {
  switch (node.type) {
    case 'MemberExpression':
      return takenMember(textOf(node['object']), textOf(node['property']));
    case 'NewExpression':
      return textOf(node['callee']) === 'Date' && isWithoutArguments(node) ? 'new Date()' : null;
    case 'CallExpression':
      return isNode(node['callee']) && textOf(node['callee']) === 'Date' ? 'new Date()' : null;
    // `const { env } = process` is the same by another spelling.
    case 'VariableDeclarator':
      return takenWhole(textOf(node['init']));
    case 'ImportDeclaration':
      return takenWhole(textOf(node['source'])?.replace('node:', '') ?? null);
    default:
      return null;
  }
}

function takenMember(object: string | null, property: string | null): string | null {
  if (object === 'console') return 'console.*';
  if (object === 'globalThis' || object === 'global') return takenWhole(property);
  const name = `${object}.${property}`;
  return name in TAKEN ? name : null;
}

function takenWhole(name: string | null): string | null {
  if (name === 'console') return 'console.*';
  if (name === 'process') return 'process.env';
  if (name === 'Math') return 'Math.random';
  return name === 'Date' ? 'Date.now' : null;
}

function isWithoutArguments(node: SyntaxNode): boolean {
  return !Array.isArray(node['arguments']) || node['arguments'].length === 0;
}
