import type { Command } from 'commander';
import { answerOf } from '../client';
import { jsonObject } from '../contracts/common';
import { VIOLATION_FIELDS, violationInput } from '../contracts/violation-input';
import { PLATE_TYPES, VIOLATION_TYPES } from '../domain/vocabulary';
import { openImages, uploading } from './images';
import { addVerb, checked, numberOption, option, type Call, type Tools } from './verb';
import { shownViolation } from './violation-lines';

/** The fields of the form (service-api 2.1) as options, images aside. */
export const FORM_OPTIONS = [
  option('--plate-number <plate>', 'the plate'),
  option('--plate-type <type>', 'the kind of plate', PLATE_TYPES),
  option('--violation-type <type>', 'the kind of violation', VIOLATION_TYPES),
  option('--zone-id <uuid>', 'the zone'),
  option('--location <text>', 'where, in words'),
  numberOption('--latitude <degrees>', 'from -90 to 90'),
  numberOption('--longitude <degrees>', 'from -180 to 180'),
  option('--date <moment>', 'when, ISO 8601'),
  option('--images-description <text>', 'what the images show'),
  option('--is-saudi <yes-or-no>', 'whether the plate is Saudi', ['true', 'false']),
  option('--full-name <name>', 'of the reporter'),
  option('--identity-number <number>', 'of the reporter'),
  option('--mobile-number <number>', 'of the reporter'),
  option('--supervisor-full-name <name>', 'of the supervisor'),
  option('--supervisor-identity-number <number>', 'of the supervisor'),
  option('--supervisor-mobile-number <number>', 'of the supervisor'),
] as const;

type Entered = string | number | boolean | undefined;

/** What was given of the fields, by their names on the wire. */
export function fieldsGiven(call: Call): Record<string, Entered> {
  const isSaudi = call.text('isSaudi');
  return {
    ...Object.fromEntries(Object.keys(VIOLATION_FIELDS).map((name) => [name, call.text(name) ?? call.number(name)])),
    isSaudi: isSaudi === undefined ? undefined : isSaudi === 'true',
    metadata: undefined,
  };
}

/** `towhook violation create` */
export function addViolationCreate(violation: Command, tools: Tools): void {
  addVerb(violation, tools, {
    usage: 'create',
    summary: 'report a parking violation with its images; a worker sends it to the service',
    options: [
      ...FORM_OPTIONS,
      option('--metadata <json>', 'your own data, a JSON object; its id names the violation'),
      option('--image <files...>', 'images, at most 10 MiB in all'),
    ],
    examples: [
      'towhook violation create --plate-number "ABC 1234" --plate-type PRIVATE --violation-type WRONG_PARKING \\\n' +
        '      --zone-id 3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f --location "Olaya Street" \\\n' +
        '      --latitude 24.69 --longitude 46.68 --image front.jpg left.jpg',
      'towhook violation create … --metadata \'{"id": "patrol-7-0042"}\' --json',
    ],
    changes: true,
    act: async (call) => {
      const { metadata: entered, ...fields } = checked(violationInput, textsGiven(call));
      const metadata = entered && jsonObject.parse(JSON.parse(call.text('metadata') ?? ''));
      const images = await openImages(call.list('image'));
      const body = { ...fields, metadata, images: images.length === 0 ? undefined : images };
      const params = { header: call.header };
      return shownViolation(
        await uploading(call, images, (upload) =>
          answerOf(call.client.POST('/api/violations', { params, body, ...upload })),
        ),
      );
    },
  });
}

/** The fields as texts, as the form carries them: they are held against the contract that the console holds them against. */
function textsGiven(call: Call): Record<string, string | undefined> {
  const given = { ...fieldsGiven(call), metadata: call.text('metadata') };
  return Object.fromEntries(
    Object.entries<Entered>(given).map(([name, value]) => [name, value === undefined ? undefined : String(value)]),
  );
}
