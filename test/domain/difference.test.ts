import { fieldsOf, shapeOf } from '../../src/domain/service/difference';

const NAMES = new Set(['data', 'towing_reference_id', 'metadata', 'id', 'items']);

describe('the shape of a difference', () => {
  test('does not depend on the order of the rules or on positions in lists', () => {
    const one = shapeOf(['data.items.0.id: must be a string', 'data: is required (object)'], NAMES);
    const other = shapeOf(
      ['data: is required (object)', 'data.items.7.id: must be a string', 'data.items.8.id: must be a string'],
      NAMES,
    );

    expect(one).toEqual(['data.items[].id: must be a string', 'data: is required (object)']);
    expect(other).toEqual(one);
  });

  test('is the same for all names that the contract does not have, so that no sender can make endless kinds', () => {
    const shapes = ['ABC1234', 'x', '0.1'].map((name) => shapeOf([`metadata.${name}: must be a finite number`], NAMES));

    expect(shapes[0]).toEqual(['metadata.*: must be a finite number']);
    expect(shapes[1]).toEqual(shapes[0]);
  });

  test('has at most 20 rules and no count of further ones', () => {
    const rules = Array.from({ length: 30 }, (_, at) => `data.id: rule ${at}`);

    expect(shapeOf([...rules, 'body: and 9 more'], NAMES)).toHaveLength(20);
    expect(shapeOf(['data.id: must be a string', 'body: and 9 more'], NAMES)).toEqual(['data.id: must be a string']);
  });
});

describe('the fields of a message', () => {
  test('are their paths and types, without a value', () => {
    const message = { code: 200, data: { towing_reference_id: 'TW-1', tax: 1.5, items: [{ id: null }, { id: 'a' }] } };

    const fields = fieldsOf(message, NAMES);

    expect(fields.map(({ field, type }) => `${field}: ${type}`)).toEqual([
      'code: integer',
      'data: object',
      'data.towing_reference_id: string',
      'data.tax: number',
      'data.items: array',
      'data.items[]: object',
      'data.items[].id: null',
      'data.items[].id: string',
    ]);
    expect(JSON.stringify(fields)).not.toContain('TW-1');
  });

  test('hide names that may be values themselves', () => {
    const fields = fieldsOf({ '1029384756': true, 'ABJ 1234': 'x', 'saleh@example.org': 1, plateOwner: 'x' }, NAMES);

    expect(fields.map(({ field }) => field)).toEqual(['*', '*', '*', 'plateOwner']);
  });

  test('are at most 80, at most 6 levels deep', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => ['a'.repeat((at % 30) + 1) + (at % 99), at]),
    );
    const deep: unknown = JSON.parse('{"a":'.repeat(20) + '1' + '}'.repeat(20));

    expect(fieldsOf(wide, NAMES)).toHaveLength(80);
    expect(fieldsOf(deep, NAMES).at(-1)?.field).toBe('a.a.a.a.a.a');
  });
});
