import type { Command } from 'commander';
import { answerOf } from '../client';
import { reasonBody } from '../contracts/operator';
import { violationCorrection } from '../contracts/violation-input';
import { violationAcceptBody, violationsQuery } from '../contracts/violations';
import { VIOLATION_STATES } from '../domain/vocabulary';
import { LIST_OPTIONS, shownList } from './listing';
import { savedTo } from './save';
import { addVerb, checked, option, type Call, type Tools } from './verb';
import { addViolationCreate, fieldsGiven, FORM_OPTIONS } from './violation-create';
import { shownViolation, violationTable } from './violation-lines';

const ID = 'patrol-7-0042';
const REASON = option('--reason <text>', 'why, for the audit; never sent to the service');

const paramsOf = (call: Call) => ({ path: { violation_id: call.argument(0) }, header: call.header });

/** `towhook violation …` */
export function addViolation(program: Command, tools: Tools): void {
  const violation = program
    .command('violation')
    .summary('violations: report, look, decide')
    .description('Parking violations, by our id or by the id in their metadata.');
  addViolationCreate(violation, tools);
  addVerb(violation, tools, {
    usage: 'list',
    summary: 'violations, newest first',
    options: [
      option('--state <state>', 'only those in this state', VIOLATION_STATES),
      option('--q <text>', 'beginning of a reference, an id or a plate'),
      ...LIST_OPTIONS,
    ],
    examples: ['towhook violation list --state refused', 'towhook violation list --all --json'],
    act: (call) => {
      const { state, q } = checked(violationsQuery, { state: call.text('state'), q: call.text('q') });
      return shownList(
        call,
        (page) => answerOf(call.client.GET('/api/violations', { params: { query: { state, q, ...page } } })),
        violationTable,
      );
    },
  });
  addVerb(violation, tools, {
    usage: 'show <violation>',
    summary: 'one violation with what the service said',
    examples: [`towhook violation show ${ID}`],
    act: async (call) => {
      const path = { violation_id: call.argument(0) };
      return shownViolation(await answerOf(call.client.GET('/api/violations/{violation_id}', { params: { path } })));
    },
  });
  addDecisions(violation, tools);
  addVerb(violation, tools, {
    usage: 'image <violation> <number>',
    summary: 'fetch one image into a file, counted from 1; gone once the service has the violation',
    options: [option('--output <file>', 'where to').makeOptionMandatory()],
    examples: [`towhook violation image ${ID} 1 --output front.jpg`],
    act: async (call) => {
      const path = { violation_id: call.argument(0), image_number: call.argument(1) };
      const url = '/api/violations/{violation_id}/images/{image_number}';
      const bytes = await answerOf(call.client.GET(url, { params: { path }, parseAs: 'arrayBuffer' }));
      return savedTo(call, bytes);
    },
  });
}

/** What a person decides about one that is refused, held or unanswered. */
function addDecisions(violation: Command, tools: Tools): void {
  addVerb(violation, tools, {
    usage: 'retry <violation>',
    summary: 'send it (again) now; of one held for an active ticket: send it all the same',
    examples: [`towhook violation retry ${ID}`],
    changes: true,
    act: async (call) =>
      shownViolation(
        await answerOf(call.client.POST('/api/violations/{violation_id}/retry', { params: paramsOf(call) })),
      ),
  });
  addVerb(violation, tools, {
    usage: 'correct <violation>',
    summary: 'change fields of its form, and send it',
    options: FORM_OPTIONS,
    examples: [`towhook violation correct ${ID} --zone-id 3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f`],
    changes: true,
    act: async (call) => {
      const body = checked(violationCorrection, fieldsGiven(call));
      const url = '/api/violations/{violation_id}/correct';
      return shownViolation(await answerOf(call.client.POST(url, { params: paramsOf(call), body })));
    },
  });
  addVerb(violation, tools, {
    usage: 'waive <violation>',
    summary: 'give it up: it is not sent any more',
    options: [REASON],
    examples: [`towhook violation waive ${ID} --reason "reported twice"`],
    changes: true,
    act: async (call) => {
      const body = checked(reasonBody, { reason: call.text('reason') });
      const url = '/api/violations/{violation_id}/waive';
      return shownViolation(await answerOf(call.client.POST(url, { params: paramsOf(call), body })));
    },
  });
  addVerb(violation, tools, {
    usage: 'accept <violation>',
    summary: 'take it as accepted, because you have seen it at the service',
    options: [REASON, option('--violation-reference-id <reference>', "the service's name of it")],
    examples: [`towhook violation accept ${ID} --violation-reference-id V-20261120-ABC123 --reason "seen there"`],
    changes: true,
    act: async (call) => {
      const body = checked(violationAcceptBody, {
        reason: call.text('reason'),
        violation_reference_id: call.text('violationReferenceId'),
      });
      const url = '/api/violations/{violation_id}/accept';
      return shownViolation(await answerOf(call.client.POST(url, { params: paramsOf(call), body })));
    },
  });
}
