import { readSources, syntaxNodes, textOf, type Source } from './sources';

/** Every use of `Object.assign`, as a sentence. It accepts any field and any value, so that a misspelled one compiles. */
function uncheckedChanges(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    syntaxNodes(source)
      .filter(
        ({ type, object, property }) =>
          type === 'MemberExpression' && textOf(object) === 'Object' && textOf(property) === 'assign',
      )
      .map(() => `${source.path}: set fields with \`change\` (src/domain/change.ts), which checks them`),
  );
}

test('the rules of the domain set fields of a record only with their types checked', () => {
  const sources = readSources(['src/domain'], ['.ts']).filter(({ path }) => path !== 'src/domain/change.ts');
  expect(sources.length).toBeGreaterThan(20);
  expect(uncheckedChanges(sources)).toEqual([]);
});

test.each(["Object.assign(entry, { state: 'accepted' })", "Object['assign'](entry, more)", '[].map(Object.assign)'])(
  'an unchecked change of fields is found: %s',
  (text) => {
    expect(uncheckedChanges([{ path: 'src/domain/a.ts', text }])).toHaveLength(1);
  },
);

test('other members of `Object` are no unchecked change', () => {
  expect(uncheckedChanges([{ path: 'src/domain/a.ts', text: 'Object.freeze(entry); change(entry, {});' }])).toEqual([]);
});
