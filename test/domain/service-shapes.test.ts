import { compareFields, type ContractField, type ObservedMessage } from '../../src/domain/service/service-shapes';

const documented: readonly ContractField[] = [
  { field: 'code', types: ['integer'], isRequired: true },
  { field: 'data', types: ['object'], isRequired: true },
  { field: 'data.id', types: ['string'], isRequired: true },
  { field: 'data.tax', types: ['number'], isRequired: true },
  { field: 'data.metadata', types: ['object'], isRequired: false },
];

/** Ten messages with these fields: `<field> <type>` and how often. */
function seen(fields: Readonly<Record<string, number>>): ObservedMessage {
  const times = { firstSeenMs: 1, lastSeenMs: 2 };
  const entries = Object.entries(fields).map(([key, count]) => {
    const [field = '', type = ''] = key.split(' ');
    return { field, type, count, ...times };
  });
  return { samples: 10, ...times, fields: entries };
}

const marks = (message: ObservedMessage | null) =>
  compareFields(documented, message).flatMap(({ field, mark }) => (mark === 'none' ? [] : [`${field}: ${mark}`]));
const AS_DOCUMENTED = { 'code integer': 10, 'data object': 10, 'data.id string': 10, 'data.tax number': 10 };

test('messages with all documented fields have no mark, and a whole number is a number', () => {
  expect(marks(seen(AS_DOCUMENTED))).toEqual([]);
  expect(marks(seen({ ...AS_DOCUMENTED, 'data.tax number': 4, 'data.tax integer': 6 }))).toEqual([]);
  expect(marks(null)).toEqual([]);
});

test('a field of another type, one that is missing and one that is not documented are marked', () => {
  const odd = { 'code string': 10, 'data object': 10, 'data.id string': 10, 'data.fee number': 3 };

  expect(marks(seen(odd))).toEqual(['code: type', 'data.tax: missing', 'data.fee: additional']);
});

test('a required field counts as missing only in messages that have the object around it', () => {
  const half = { 'code integer': 10, 'data object': 5, 'data.id string': 5, 'data.tax number': 4 };

  expect(marks(seen(half))).toEqual(['data: sometimes_missing', 'data.tax: sometimes_missing']);
});

test('fields inside an object that the document leaves open are neither marked nor listed', () => {
  const message = seen({ ...AS_DOCUMENTED, 'data.metadata object': 10, 'data.metadata.note string': 10 });

  expect(compareFields(documented, message).map(({ field }) => field)).toEqual(documented.map(({ field }) => field));
});
