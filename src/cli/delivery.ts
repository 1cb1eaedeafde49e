import type { Command } from 'commander';
import type { z } from 'zod';
import type { JudgementPreview, JudgementView } from '../contracts/judgements';
import { runForEach } from './run-each';
import { LIST_OPTIONS, listOutput } from './list-command';
import { addCommand, checked, numberOption, option, type CommandTools } from './command';
import { otherCallsQuery, type deliveryDetail, type DeliveryView } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import type { OtherCall } from '../contracts/records';
import { refusedCallsQuery, type KeptRefusal } from '../contracts/refused-calls';
import { pairs, riyadhTime, section, textOrDash, table } from './format';

/** Characters of a body in a table; `--json` has more. */
const BODY_SHOWN_MAX = 80;

const STILL_DIFFERS =
  'Those that still differ need a setting, an update, or "towhook service expect": then the parts that differ are left out.';

/** `towhook delivery …` */
export function addDelivery(program: Command, tools: CommandTools): void {
  const delivery = program.command('delivery').summary('webhook calls of the service: list, show, replay');
  addCommand(delivery, tools, {
    usage: 'list',
    summary: 'list deliveries, newest first',
    options: [
      option('--differing', 'only those that break the contract and wait to be judged again'),
      option('--difference <difference>', 'only those of them with this kind of difference'),
      ...LIST_OPTIONS,
    ],
    examples: ['towhook delivery list', 'towhook delivery list --differing', 'towhook delivery list --json'],
    run: (call) => {
      const filter = {
        differing: call.flag('differing') ? ('true' as const) : undefined,
        difference_id: call.text('difference'),
      };
      return listOutput(
        call,
        (page) => call.client.call(ROUTES.listDeliveries, { query: { ...filter, ...page } }),
        deliveryTable,
      );
    },
  });
  addCommand(delivery, tools, {
    usage: 'refused',
    summary: 'list refused calls of the last day, newest first, with their cause',
    options: [numberOption('--limit <number>', 'number of calls, at most 200')],
    examples: ['towhook delivery refused', 'towhook delivery refused --json'],
    run: async (call) => {
      const { limit } = checked(refusedCallsQuery, { limit: call.number('limit') });
      const calls = await call.client.call(ROUTES.listRefusedCalls, { query: { limit } });
      return { json: calls, lines: refusedTable(calls.items) };
    },
  });
  addCommand(delivery, tools, {
    usage: 'other',
    summary: 'list JSON calls on paths of no webhook, newest first',
    options: [numberOption('--limit <number>', 'number of calls, at most 200')],
    examples: ['towhook delivery other', 'towhook delivery other --json'],
    run: async (call) => {
      const { limit } = checked(otherCallsQuery, { limit: call.number('limit') });
      const calls = await call.client.call(ROUTES.listOtherCalls, { query: { limit } });
      return { json: calls, lines: otherTable(calls.items) };
    },
  });
  addCommand(delivery, tools, {
    usage: 'show <delivery>',
    summary: 'show a delivery with its raw body and verdict',
    examples: ['towhook delivery show 0b5c…'],
    run: async (call) => {
      const params = { delivery_id: call.argument(0) };
      const detail = await call.client.call(ROUTES.readDelivery, { params });
      return { json: detail, lines: deliveryLines(detail) };
    },
  });
  addCommand(delivery, tools, {
    usage: 'judge <difference>',
    summary: 'judge the webhooks of a kind of difference again, or show what that would do',
    options: [
      option('--preview', 'change nothing; show what would happen, and the last run'),
      option('--reason <text>', 'for the audit log'),
    ],
    examples: [
      'towhook delivery judge webhook.tow_request.1c2d… --preview',
      'towhook delivery judge webhook.tow_request.1c2d…',
    ],
    changes: true,
    run: async (call) => {
      const params = { difference_id: call.argument(0) };
      if (call.flag('preview')) {
        const preview = await call.client.call(ROUTES.previewJudgement, { params });
        return { json: preview, lines: previewLines(preview) };
      }
      const body = { reason: call.text('reason') };
      const run = await call.client.call(ROUTES.judgeAgain, { params, body, key: call.key });
      return { json: run, lines: pairs(runRows(run)) };
    },
  });
  addCommand(delivery, tools, {
    usage: 'replay <deliveries...>',
    summary: 'process deliveries again; safe to repeat',
    examples: ['towhook delivery replay 0b5c…', 'towhook delivery replay 0b5c… 1f77… 93aa…'],
    changes: true,
    run: (call) =>
      runForEach(call, call.rest(0), {
        what: 'deliveries',
        run: (id) => {
          const params = { delivery_id: id };
          return call.client.call(ROUTES.replayDelivery, { params, key: call.key });
        },
        lines: (done) => deliveryTable(done),
      }),
  });
}

function deliveryTable(deliveries: readonly DeliveryView[]): string[] {
  return table(
    ['delivery', 'kind', 'state', 'verdict', 'tow', 'received (Riyadh)', 'verified'],
    deliveries.map((item) => [
      item.id,
      item.kind,
      item.state,
      textOrDash(item.verdict),
      item.towing_reference_id,
      riyadhTime(item.received_at),
      textOrDash(item.verified),
    ]),
  );
}

function refusedTable(calls: readonly KeptRefusal[]): string[] {
  return table(
    ['received (Riyadh)', 'path', 'status', 'reason', 'source', 'bytes', 'body', 'rules'],
    calls.map((call) => [
      riyadhTime(call.received_at),
      call.path,
      String(call.http_status),
      call.reason,
      call.source,
      textOrDash(call.size),
      call.body_kind,
      call.details.map(({ field, rule }) => `${field} ${rule}`).join('; '),
    ]),
  );
}

function previewLines({ count, read, outcomes, examples, run }: JudgementPreview): string[] {
  const last = run === null ? [] : runRows(run);
  return [
    ...pairs([
      ['waiting', String(count)],
      ['looked at', String(read)],
      ['would be acted on', String(outcomes.acted_on)],
      ['would be closed', String(outcomes.not_acted_on)],
      ['would still differ', String(outcomes.differs)],
      ...last,
    ]),
    ...section(
      'Examples',
      table(
        ['delivery', 'tow', 'received (Riyadh)', 'outcome', 'rules'],
        examples.map((each) => [
          each.delivery_id,
          each.towing_reference_id,
          riyadhTime(each.received_at),
          each.outcome,
          each.rules.join('; '),
        ]),
      ),
    ),
    ...(outcomes.differs === 0 ? [] : [STILL_DIFFERS]),
  ];
}

function runRows({ state, started_at, total, remaining }: JudgementView): [string, string][] {
  return [
    ['run', state],
    ['started', `${riyadhTime(started_at)} (Riyadh)`],
    ['in the run', String(total)],
    ['remaining', String(remaining)],
  ];
}

function otherTable(calls: readonly OtherCall[]): string[] {
  return table(
    ['received (Riyadh)', 'path', 'verified', 'characters', 'body'],
    calls.map((call) => [
      riyadhTime(call.received_at),
      call.path,
      textOrDash(call.verified),
      String(call.length),
      call.raw_body.slice(0, BODY_SHOWN_MAX),
    ]),
  );
}

function deliveryLines(detail: z.infer<typeof deliveryDetail>): string[] {
  return [
    ...pairs([
      ['delivery', detail.id],
      ['kind', detail.kind],
      ['state', detail.state],
      ['verdict', textOrDash(detail.verdict)],
      ['difference', textOrDash(detail.difference_id)],
      ['tow', detail.towing_reference_id],
      ['received', `${riyadhTime(detail.received_at)} (Riyadh)`],
      ['signed', riyadhTime(detail.signed_at)],
      ['processed', riyadhTime(detail.processed_at)],
      ['verified', textOrDash(detail.verified)],
      ['signature id', textOrDash(detail.signature_id)],
      ['copies', String(detail.copies)],
      ['failures', String(detail.failures)],
      ['replays', String(detail.replays)],
    ]),
    ...section(
      'How it differs',
      detail.differences.map(({ field, rule }) => `${field}: ${rule}`),
    ),
    ...section('Raw body', [detail.raw_body]),
  ];
}
