import * as fc from 'fast-check';
import { metadataWithId, timesNamed } from '../../src/domain/violation/violation';
import { jsonObject } from '../../src/contracts/common';
import { misreadsJsonKeys } from '../../src/platform/process';

/** Some versions of Node read keys with escapes wrongly, so that nothing can be compared with them. */
const isMisread = misreadsJsonKeys();

const objects = fc
  .dictionary(fc.oneof(fc.string(), fc.constantFrom('"', '\\', '{', 'a:', 'id')), fc.jsonValue())
  .chain((value) => fc.constantFrom(undefined, 2, '\t').map((indent) => JSON.stringify(value, null, indent)))
  // The contract drops this name everywhere, since it would change the prototype.
  .filter((text) => !text.includes('__proto__'))
  .filter((text) => !isMisread || !text.includes('\\'));

test('metadata of a violation without an id gets one and keeps the rest of its text', () => {
  fc.assert(
    fc.property(objects, (text) => {
      const value = jsonObject.parse(JSON.parse(text));
      const named = metadataWithId({ value, text }, 'ours');
      const expected = { id: 'ours', ...value };
      expect([JSON.parse(named.text), named.value]).toEqual([expected, expected]);
      expect(named.text === text).toBe('id' in value);
      expect(named.text.endsWith(text.slice(1))).toBe(true);
    }),
  );
});

test('a scan of JSON text counts its top-level members of a given name', () => {
  fc.assert(
    fc.property(objects, (text) => {
      const times = Object.hasOwn(jsonObject.parse(JSON.parse(text)), 'id') ? 1 : 0;
      expect(timesNamed('id', text)).toBe(times);
      const more = text.length === 2 ? '' : ',';
      expect(timesNamed('id', `{ "i\\u0064" : {"id":1},"x":["id"]${more}${text.slice(1)}`)).toBe(times + 1);
    }),
  );
});
