import type { Command } from 'commander';
import { answerOf } from '../client';
import { reasonBody } from '../contracts/operator';
import { CLEARABLE_FIELDS, violationCorrection, violationImagesInput } from '../contracts/violation-input';
import { violationAcceptBody, violationsQuery } from '../contracts/violations';
import { VIOLATION_STATES } from '../domain/vocabulary';
import { LIST_OPTIONS, listOutput } from './list-command';
import { openImages, saveFile, upload } from './files';
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

const paramsOf = (call: Invocation) => ({ path: { violation_id: call.argument(0) }, header: call.header });

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
      option('--q <text>', 'the beginning of a reference, id or plate'),
      ...LIST_OPTIONS,
    ],
    examples: ['towhook violation list --state refused', 'towhook violation list --all --json'],
    run: (call) => {
      const { state, q } = checked(violationsQuery, { state: call.text('state'), q: call.text('q') });
      return listOutput(
        call,
        (page) => answerOf(call.client.GET('/api/violations', { params: { query: { state, q, ...page } } })),
        violationTable,
      );
    },
  });
  addCommand(violation, tools, {
    usage: 'show <violation>',
    summary: 'show a violation with the answer of the service',
    examples: [`towhook violation show ${ID}`],
    run: async (call) => {
      const path = { violation_id: call.argument(0) };
      return violationOutput(await answerOf(call.client.GET('/api/violations/{violation_id}', { params: { path } })));
    },
  });
  addDecisions(violation, tools);
  addCommand(violation, tools, {
    usage: 'image <violation> <number>',
    summary: 'save an image to a file, counted from 1; images are deleted once the service has the violation',
    options: [option('--output <file>', 'the file to write').makeOptionMandatory()],
    examples: [`towhook violation image ${ID} 1 --output front.jpg`],
    run: async (call) => {
      const path = { violation_id: call.argument(0), image_number: call.argument(1) };
      const url = '/api/violations/{violation_id}/images/{image_number}';
      const bytes = await answerOf(call.client.GET(url, { params: { path }, parseAs: 'arrayBuffer' }));
      return saveFile(call, bytes);
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
  const images = await openImages(call.list('image'));
  const url = '/api/violations/{violation_id}/images';
  const body = { ...fields, images };
  return violationOutput(
    await upload(call, images, (sending) =>
      answerOf(call.client.POST(url, { params: paramsOf(call), body, ...sending })),
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
      violationOutput(
        await answerOf(call.client.POST('/api/violations/{violation_id}/retry', { params: paramsOf(call) })),
      ),
  });
  addCommand(violation, tools, {
    usage: 'correct <violation>',
    summary: 'change fields of a violation, or replace its images, and send it',
    options: [
      ...FORM_OPTIONS,
      option('--clear <fields...>', 'optional fields to empty', CLEARABLE_FIELDS.map(clearNameOf)),
      option('--image <files...>', 'images that replace all its images'),
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
      const url = '/api/violations/{violation_id}/correct';
      return violationOutput(await answerOf(call.client.POST(url, { params: paramsOf(call), body })));
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
      const url = '/api/violations/{violation_id}/waive';
      return violationOutput(await answerOf(call.client.POST(url, { params: paramsOf(call), body })));
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
      const url = '/api/violations/{violation_id}/accept';
      return violationOutput(await answerOf(call.client.POST(url, { params: paramsOf(call), body })));
    },
  });
}
