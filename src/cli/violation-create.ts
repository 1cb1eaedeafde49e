import type { Command } from 'commander';
import { ROUTES } from '../contracts/operator-routes';
import { VIOLATION_FIELDS, violationInput } from '../contracts/violation-input';
import { PLATE_TYPES, VIOLATION_TYPES } from '../domain/vocabulary';
import { ACCEPTS_DAMAGED, imagesOf, upload } from './files';
import { addCommand, checked, numberOption, option, type Invocation, type CommandTools } from './command';
import { violationOutput } from './violation-lines';

/** The fields of the form (docs/service-api.md#violation-form) as options, images aside. */
export const FORM_OPTIONS = [
  option('--plate-number <plate>', 'the plate'),
  option('--plate-type <type>', 'the kind of plate', PLATE_TYPES),
  option('--violation-type <type>', 'the kind of violation', VIOLATION_TYPES),
  option('--zone-id <uuid>', 'the zone'),
  option('--location <text>', 'the place, as text'),
  numberOption('--latitude <degrees>', 'from -90 to 90'),
  numberOption('--longitude <degrees>', 'from -180 to 180'),
  option('--date <time>', 'when it happened, ISO 8601'),
  option('--images-description <text>', 'what the images show'),
  option('--is-saudi <yes-or-no>', 'whether the plate is Saudi', ['true', 'false']),
  option('--full-name <name>', 'of the reporter'),
  option('--identity-number <number>', 'of the reporter'),
  option('--mobile-number <number>', 'of the reporter'),
  option('--supervisor-full-name <name>', 'of the supervisor'),
  option('--supervisor-identity-number <number>', 'of the supervisor'),
  option('--supervisor-mobile-number <number>', 'of the supervisor'),
] as const;

type FieldValue = string | number | boolean | undefined;

/** The given fields by their wire names. */
export function fieldsGiven(call: Invocation): Record<string, FieldValue> {
  const isSaudi = call.text('isSaudi');
  return {
    ...Object.fromEntries(Object.keys(VIOLATION_FIELDS).map((name) => [name, call.text(name) ?? call.number(name)])),
    isSaudi: isSaudi === undefined ? undefined : isSaudi === 'true',
    metadata: undefined,
  };
}

/** `towhook violation create` */
export function addViolationCreate(violation: Command, tools: CommandTools): void {
  addCommand(violation, tools, {
    usage: 'create',
    summary: 'report a parking violation with images; a worker sends it to the service',
    options: [
      ...FORM_OPTIONS,
      option('--metadata <json>', 'your own data, a JSON object; its id identifies the violation'),
      option('--image <files...>', 'images, at most 10 MB in all unless configured otherwise'),
      ACCEPTS_DAMAGED,
    ],
    examples: [
      'towhook violation create --plate-number "ABC 1234" --plate-type PRIVATE --violation-type WRONG_PARKING \\\n' +
        '      --zone-id 3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f --location "Olaya Street" \\\n' +
        '      --latitude 24.69 --longitude 46.68 --image front.jpg left.jpg',
      'towhook violation create … --metadata \'{"id": "patrol-7-0042"}\' --json',
    ],
    changes: true,
    run: async (call) => {
      const { metadata, ...fields } = checked(violationInput, textsGiven(call));
      const { images, ...flags } = await imagesOf(call, call.list('image'));
      // The metadata is sent as the text that was entered.
      const body = { ...fields, metadata: metadata?.text, images: images.length === 0 ? undefined : images, ...flags };
      return violationOutput(
        await upload(call, images, (onSent) =>
          call.client.call(ROUTES.reportViolation, { body, key: call.key, onSent }),
        ),
      );
    },
  });
}

/** The fields as text, as the form carries them, so that the contract of the console applies. */
export function textsGiven(call: Invocation): Record<string, string | undefined> {
  const given = { ...fieldsGiven(call), metadata: call.text('metadata') };
  return Object.fromEntries(
    Object.entries<FieldValue>(given).map(([name, value]) => [name, value === undefined ? undefined : String(value)]),
  );
}
