import type { Command } from 'commander';
import { reasonBody } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import { CLEARABLE_FIELDS, violationCorrection, violationImagesInput } from '../contracts/violation-input';
import { violationAcceptBody, violationsQuery } from '../contracts/violations';
import { VIOLATION_STATES } from '../domain/vocabulary';
import { LIST_OPTIONS, listOutput } from './list-command';
import { ACCEPTS_DAMAGED, imagesOf, saveFile, upload } from './files';
import {
  addCommand,
  checked,
  option,
  optionNamed,
  type CommandOutput,
  type Invocation,
  type CommandTools,
} from './command';
import { addViolationCreate, fieldsGiven, FORM_OPTIONS, textsGiven } from './violation-create';
import { UsageError } from './problems';
import { addViolationImport } from './violation-import';
import { violationOutput, violationTable } from './violation-lines';

const ID = 'patrol-7-0042';
const REASON = option('--reason <text>', 'reason for the audit log; never sent to the service');

const paramsOf = (call: Invocation) => ({ violation_id: call.argument(0) });

/** `towhook violation …` */
export function addViolation(program: Command, tools: CommandTools): void {
  const violation = program
    .command('violation')
    .summary('violations: report, import, list, show, decide')
    .description('Parking violations, by their towhook id or the id in their metadata.');
  addViolationCreate(violation, tools);
  addViolationImport(violation, tools);
  addCommand(violation, tools, {
    usage: 'list',
    summary: 'list violations, newest first',
    options: [
      option('--state <state>', 'only violations in this state', VIOLATION_STATES),
      option('--q <text>', 'the beginning of a reference, id or plate; at most the first 1,000 matches'),
      ...LIST_OPTIONS,
    ],
    examples: ['towhook violation list --state refused', 'towhook violation list --all --json'],
    run: (call) => {
      const { state, q } = checked(violationsQuery, { state: call.text('state'), q: call.text('q') });
      return listOutput(
        call,
        (page) => call.client.call(ROUTES.listViolations, { query: { state, q, ...page } }),
        violationTable,
      );
    },
  });
  addCommand(violation, tools, {
    usage: 'show <violation>',
    summary: 'show a violation with the answer of the service',
    examples: [`towhook violation show ${ID}`],
    run: async (call) => {
      const params = { violation_id: call.argument(0) };
      return violationOutput(await call.client.call(ROUTES.readViolation, { params }));
    },
  });
  addDecisions(violation, tools);
  addCommand(violation, tools, {
    usage: 'image <violation> <number>',
    summary: 'save an image to a file, counted from 1; images are deleted once the service has the violation',
    options: [option('--output <file>', 'the file to write').makeOptionMandatory()],
    examples: [`towhook violation image ${ID} 1 --output front.jpg`],
    run: async (call) => {
      const params = { violation_id: call.argument(0), image_number: call.argument(1) };
      const image = await call.client.call(ROUTES.readViolationImage, { params });
      return saveFile(call, await image.arrayBuffer());
    },
  });
}

/** A field as `--clear` names it: its option without the dashes. */
function clearNameOf(field: string): string {
  return optionNamed(field).slice('--'.length);
}

function fieldsCleared(call: Invocation): Record<string, null> {
  const cleared = CLEARABLE_FIELDS.filter((name) => call.list('clear').includes(clearNameOf(name)));
  const given = fieldsGiven(call);
  if (cleared.some((name) => given[name] !== undefined)) {
    throw new UsageError([{ field: '--clear', rule: 'must not name a field that has a new value' }]);
  }
  return Object.fromEntries(cleared.map((name) => [name, null]));
}

async function correctWithImages(call: Invocation): Promise<CommandOutput> {
  if (call.list('clear').length > 0) throw new UsageError([{ field: '--clear', rule: 'cannot be used with --image' }]);
  // The form of the images ignores empty fields, so they are refused here.
  checked(violationCorrection, fieldsGiven(call));
  const fields = checked(violationImagesInput, textsGiven(call));
  const body = { ...fields, ...(await imagesOf(call, call.list('image'))) };
  return violationOutput(
    await upload(call, body.images, (onSent) =>
      call.client.call(ROUTES.replaceViolationImages, { params: paramsOf(call), body, key: call.key, onSent }),
    ),
  );
}

/** Decisions about a violation that is refused, held or unanswered. */
function addDecisions(violation: Command, tools: CommandTools): void {
  addCommand(violation, tools, {
    usage: 'retry <violation>',
    summary: 'send a violation now, also one that is held because of an active ticket',
    examples: [`towhook violation retry ${ID}`],
    changes: true,
    run: async (call) =>
      violationOutput(await call.client.call(ROUTES.retryViolation, { params: paramsOf(call), key: call.key })),
  });
  addCommand(violation, tools, {
    usage: 'correct <violation>',
    summary: 'change fields of a violation, or replace its images, and send it',
    options: [
      ...FORM_OPTIONS,
      option('--clear <fields...>', 'optional fields to empty', CLEARABLE_FIELDS.map(clearNameOf)),
      option('--image <files...>', 'images that replace all its images'),
      ACCEPTS_DAMAGED,
    ],
    examples: [
      `towhook violation correct ${ID} --zone-id 3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f`,
      `towhook violation correct ${ID} --clear full-name identity-number`,
      `towhook violation correct ${ID} --image front.jpg`,
    ],
    changes: true,
    run: async (call) => {
      if (call.list('image').length > 0) return correctWithImages(call);
      const body = checked(violationCorrection, { ...fieldsGiven(call), ...fieldsCleared(call) });
      return violationOutput(
        await call.client.call(ROUTES.correctViolation, { params: paramsOf(call), body, key: call.key }),
      );
    },
  });
  addCommand(violation, tools, {
    usage: 'waive <violation>',
    summary: 'give a violation up; it is not sent again',
    options: [REASON],
    examples: [`towhook violation waive ${ID} --reason "reported twice"`],
    changes: true,
    run: async (call) => {
      const body = checked(reasonBody, { reason: call.text('reason') });
      return violationOutput(
        await call.client.call(ROUTES.waiveViolation, { params: paramsOf(call), body, key: call.key }),
      );
    },
  });
  addCommand(violation, tools, {
    usage: 'accept <violation>',
    summary: 'mark a violation as accepted, because you have seen it at the service',
    options: [REASON, option('--violation-reference-id <reference>', "the service's reference")],
    examples: [`towhook violation accept ${ID} --violation-reference-id V-20261120-ABC123 --reason "seen there"`],
    changes: true,
    run: async (call) => {
      const body = checked(violationAcceptBody, {
        reason: call.text('reason'),
        violation_reference_id: call.text('violationReferenceId'),
      });
      return violationOutput(
        await call.client.call(ROUTES.acceptViolation, { params: paramsOf(call), body, key: call.key }),
      );
    },
  });
}
