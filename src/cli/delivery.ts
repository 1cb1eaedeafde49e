import type { Command } from 'commander';
import { answerOf, type Delivery, type DeliveryDetail, type QuarantinedCall } from '../client';
import { shownEach } from './bulk';
import { LIST_OPTIONS, shownList } from './listing';
import { addVerb, option, type Tools } from './verb';
import { pairs, riyadhTime, section, shown, table } from './words';

/** `towhook delivery …` */
export function addDelivery(program: Command, tools: Tools): void {
  const delivery = program.command('delivery').summary('webhook calls of the service: look, process once more');
  addVerb(delivery, tools, {
    usage: 'list',
    summary: 'deliveries, newest first',
    options: [option('--quarantined', 'calls that broke the contract instead'), ...LIST_OPTIONS],
    examples: ['towhook delivery list', 'towhook delivery list --quarantined --json'],
    act: (call) => {
      const quarantined = call.flag('quarantined') ? 'true' : undefined;
      return shownList(
        call,
        (page) => answerOf(call.client.GET('/api/deliveries', { params: { query: { quarantined, ...page } } })),
        deliveryTable,
      );
    },
  });
  addVerb(delivery, tools, {
    usage: 'show <delivery>',
    summary: 'one delivery with its raw body and verdict',
    examples: ['towhook delivery show 0b5c…'],
    act: async (call) => {
      const path = { delivery_id: call.argument(0) };
      const detail = await answerOf(call.client.GET('/api/deliveries/{delivery_id}', { params: { path } }));
      return { json: detail, lines: deliveryLines(detail) };
    },
  });
  addVerb(delivery, tools, {
    usage: 'replay <deliveries...>',
    summary: 'process deliveries once more; doing it twice is doing it once',
    examples: ['towhook delivery replay 0b5c…', 'towhook delivery replay 0b5c… 1f77… 93aa…'],
    changes: true,
    act: (call) =>
      shownEach(call, call.rest(0), {
        what: 'deliveries',
        act: (id) => {
          const params = { path: { delivery_id: id }, header: call.header };
          return answerOf(call.client.POST('/api/deliveries/{delivery_id}/replay', { params }));
        },
        lines: (done) => deliveryTable(done),
      }),
  });
}

function deliveryTable(deliveries: readonly (Delivery | QuarantinedCall)[]): string[] {
  return table(
    ['delivery', 'kind', 'state', 'verdict', 'tow', 'received (Riyadh)', 'verified'],
    deliveries.map((item) =>
      'kind' in item
        ? [
            item.id,
            item.kind,
            item.state,
            shown(item.verdict),
            item.towing_reference_id,
            riyadhTime(item.received_at),
            shown(item.verified),
          ]
        : [
            item.id,
            item.path,
            'quarantined',
            item.details.map(({ field, rule }) => `${field} ${rule}`).join('; '),
            shown(null),
            riyadhTime(item.received_at),
            shown(null),
          ],
    ),
  );
}

function deliveryLines(detail: DeliveryDetail): string[] {
  return [
    ...pairs([
      ['delivery', detail.id],
      ['kind', detail.kind],
      ['state', detail.state],
      ['verdict', shown(detail.verdict)],
      ['tow', detail.towing_reference_id],
      ['received', `${riyadhTime(detail.received_at)} (Riyadh)`],
      ['processed', riyadhTime(detail.processed_at)],
      ['verified', shown(detail.verified)],
      ['signature id', shown(detail.signature_id)],
      ['copies', String(detail.copies)],
      ['failures', String(detail.failures)],
      ['replays', String(detail.replays)],
    ]),
    ...section('Raw body', [detail.raw_body]),
  ];
}
