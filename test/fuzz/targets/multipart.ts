import { createHash } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import * as fc from 'fast-check';
import { z } from 'zod';
import { ROUTES } from '../../../src/contracts/operator-routes';
import type { Actor } from '../../../src/domain/ops/audit';
import { checkCall } from '../../../src/operator/check-call';
import { readForm } from '../../../src/operator/form/read-form';
import type { Upload } from '../../../src/workflow/ops/spool-port';
import { IMAGES } from '../../support/images';
import { edited, editedText, perhapsEdits, type Edit } from '../bytes';
import { hostileText } from '../hostile';
import { judgeApi } from '../judge';
import { FUZZ_API_KEY, KNOWN_TOWS } from '../product';
import { createTarget } from '../target';

/** Multipart forms: violations with their images, photos of tows. */

interface FormPart {
  readonly name: string;
  /** Null for a field. */
  readonly file: string | null;
  readonly value: Buffer;
  readonly headEdits: readonly Edit[];
}

interface FormInput {
  readonly isPhoto: boolean;
  readonly contentType: string;
  readonly boundary: string;
  readonly parts: readonly FormPart[];
  readonly edits: readonly Edit[];
  /** The sizes of the chunks of the body. */
  readonly pieceBytes: number;
}

/** Here all chunks of a form are read at once, not as they arrive. */
const PIECES_MAX = 500;
const ACTOR: Actor = { id: 'fuzz', name: 'fuzz', role: 'ops' };
const GOOD: Readonly<Record<string, string>> = {
  latitude: '24.7136',
  longitude: '46.6753',
  location: 'King Fahd Road 12, Riyadh',
  plateNumber: 'ABJ 1235',
  plateType: 'PRIVATE',
  zoneId: '11111111-2222-4333-8444-555555555555',
  violationType: 'WRONG_PARKING',
};
const OTHER_NAMES = [
  'date',
  'metadata',
  'isSaudi',
  'fullName',
  'imagesDescription',
  'images',
  '__proto__',
  'constructor',
  '',
];
const OTHER_VALUES = [
  '{"id":"case-77"}',
  '{"id":1}',
  `${'{"a":'.repeat(120)}1${'}'.repeat(120)}`,
  '{"id":"x","n":1e999}',
  '2026-11-20T10:00:00Z',
  'true',
  'x'.repeat(2000),
];

const rarely = fc.oneof({ weight: 9, arbitrary: fc.constant<readonly Edit[]>([]) }, perhapsEdits);
const good: readonly FormPart[] = Object.entries(GOOD).map(([name, value]) => ({
  name,
  file: null,
  value: Buffer.from(value),
  headEdits: [],
}));

const field: fc.Arbitrary<FormPart> = fc.record({
  name: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...Object.keys(GOOD), ...OTHER_NAMES) }, hostileText),
  file: fc.constant(null),
  value: fc.oneof(fc.constantFrom(...OTHER_VALUES), hostileText).map((text) => Buffer.from(text)),
  headEdits: rarely,
});
const file: fc.Arbitrary<FormPart> = fc.record({
  name: fc.oneof({ weight: 8, arbitrary: fc.constant('images') }, hostileText),
  file: fc.oneof(fc.constantFrom('a.png', '../../x.jpg', 'صورة.jpg'), hostileText),
  value: fc
    .tuple(fc.constantFrom(...IMAGES.map(([, bytes]) => bytes)), perhapsEdits)
    .map(([bytes, changes]) => edited(bytes, changes)),
  headEdits: rarely,
});
const many = fc
  .tuple(fc.oneof(field, file), fc.integer({ min: 45, max: 130 }))
  .map(([part, count]): readonly FormPart[] =>
    Array.from({ length: count }, (_, index) => ({
      ...part,
      name: `${part.name}${index}`,
      value: part.value.subarray(0, 60),
    })),
  );

const parts: fc.Arbitrary<readonly FormPart[]> = fc.oneof(
  { weight: 3, arbitrary: fc.array(file, { maxLength: 2 }).map((files) => [...good, ...files]) },
  {
    weight: 6,
    arbitrary: fc
      .array(fc.oneof({ weight: 2, arbitrary: field }, file), { maxLength: 5 })
      .map((others) => [...good, ...others]),
  },
  { weight: 3, arbitrary: fc.array(fc.oneof(field, file), { maxLength: 4 }) },
  {
    weight: 1,
    arbitrary: fc.oneof({ weight: 1, arbitrary: many }, { weight: 9, arbitrary: fc.constant<readonly FormPart[]>([]) }),
  },
);

const inputs: fc.Arbitrary<FormInput> = fc.record({
  isPhoto: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
  contentType: fc.oneof(
    { weight: 9, arbitrary: fc.constant('multipart/form-data; boundary=') },
    fc.constantFrom(
      'multipart/form-data',
      'multipart/form-data; boundary="',
      'multipart/mixed; boundary=',
      'MULTIPART/FORM-DATA;boundary=',
    ),
  ),
  boundary: fc.oneof(
    { weight: 9, arbitrary: fc.constant('fuzzed-boundary') },
    fc.constantFrom('-', '--', "a'()+_,-./:=?", 'x'.repeat(70), 'x'.repeat(500), '\\"'),
    hostileText,
  ),
  parts,
  edits: fc.oneof({ weight: 1, arbitrary: fc.constant<readonly Edit[]>([]) }, perhapsEdits),
  pieceBytes: fc.constantFrom(1_000_000, 65_536, 100, 7),
});

function bodyOf({ boundary, parts, edits }: FormInput): Buffer {
  const pieces = parts.flatMap(({ name, file, value, headEdits }) => {
    const fileName = file === null ? '' : `; filename="${file}"`;
    const type = file === null ? '' : '\r\nContent-Type: application/octet-stream';
    const head = `Content-Disposition: form-data; name="${name}"${fileName}${type}`;
    return [`--${boundary}\r\n`, edited(Buffer.from(head), headEdits), '\r\n\r\n', value, '\r\n'];
  });
  const whole = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
  return edited(whole, edits);
}

/** The request as Node passes it to the API, its body in chunks of one size. */
function requestOf(input: FormInput): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers['content-type'] = `${input.contentType}${input.boundary}`;
  const body = bodyOf(input);
  const pieceBytes = Math.max(input.pieceBytes, Math.ceil(body.length / PIECES_MAX));
  for (let at = 0; at < body.length; at += pieceBytes) request.push(body.subarray(at, at + pieceBytes));
  request.push(null);
  request.complete = true;
  return request;
}

/** Accepts files like the spool and keeps none. The kind of image is checked over HTTP only. */
const upload: Upload = {
  async write(bytes) {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const piece of bytes) {
      hash.update(piece);
      sizeBytes += piece.length;
    }
    return { file: 'x.1', sizeBytes, sha256: hash.digest('hex'), contentType: sizeBytes > 0 ? 'image/png' : null };
  },
  keep: () => Promise.resolve(),
  discard: () => Promise.resolve(),
  takeBack: () => Promise.resolve(),
};

export const multipartTarget = createTarget<FormInput>({
  name: 'multipart',
  share: 0.05,
  inputs,
  async direct(input) {
    const result = await readForm(requestOf(input), upload, 10_000_000);
    if (result.kind === 'client_gone' || result.kind === 'not_stored') return `a whole form ends as ${result.kind}`;
    if (result.kind !== 'read') return null;
    const { fields, faults } = result.form;
    if (Object.getPrototypeOf(fields) !== Object.prototype) return 'a form has changed the prototype of its fields';
    const call = checkCall(ROUTES.reportViolation, { actor: ACTOR, params: () => '', query: {}, body: fields }, faults);
    return 'refusal' in call && call.refusal.details.length === 0 ? 'a refusal names no field' : null;
  },
  async send(input, { consoleUrl, http }) {
    const response = await http.send(consoleUrl, {
      method: 'POST',
      path: input.isPhoto ? `/api/tows/${KNOWN_TOWS[1] ?? ''}/photos` : '/api/violations',
      headers: {
        authorization: `Bearer ${FUZZ_API_KEY}`,
        'content-type': editedText(`${input.contentType}${input.boundary}`, []),
      },
      body: bodyOf(input),
    });
    return judgeApi(response, { answer: z.looseObject({}) });
  },
});
