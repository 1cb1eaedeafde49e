import { FACT_CONTRACTS, readableCorrectionOf } from '../../contracts/tow/facts';
import { ROUTES } from '../../contracts/operator-routes';
import type { ReportCommand } from '../../domain/outbox/decide-report';
import { FACT_EVENTS } from '../../domain/vocabulary';
import { decideReport, decisionFaults } from '../../workflow/outbox/decide';
import { factFaults, recordFact } from '../../workflow/tow/record-fact';
import { towNowOf } from '../../workflow/tow/views';
import type { Change } from '../idempotency';
import type { ApiServer } from '../api-server';
import type { OperatorTools } from '../tools';
import type { PathCall } from '../check-call';

/** Tows: read them, record facts, decide about reports. */
export function serveTows(server: ApiServer, tools: OperatorTools): void {
  server.read(ROUTES.readTow, async ({ params }) => {
    const record = await tools.tows.read(params('towing_reference_id'));
    return record && towNowOf(record, tools.rules);
  });
  server.list(ROUTES.listTows, async ({ query }) => {
    const page = await tools.tows.list({
      states: query.state ?? [],
      search: query.q ?? null,
      attention: query.attention === 'true',
      unsent: query.unsent === 'true',
      overdueAfter: query.overdue === 'true' ? tools.rules.overdueAfter : null,
      crew: query.crew ?? null,
      order: query.order ?? null,
      cursor: query.cursor ?? null,
      limit: query.limit,
    });
    return { items: page.items.map((record) => towNowOf(record, tools.rules)), next_cursor: page.nextCursor };
  });
  server.read(ROUTES.countTows, () => tools.tows.counts(tools.rules.overdueAfter));

  for (const event of FACT_EVENTS) {
    const { commandOf, readableCommandOf } = FACT_CONTRACTS[event];
    server.change(
      ROUTES[event],
      ({ params, body, actor }) => {
        const request = { ref: params('towing_reference_id'), command: commandOf(body), actor };
        return { effect: (idempotency) => recordFact(tools, { ...request, idempotency }) };
      },
      {
        alsoFails: async ({ params, body, actor }) => {
          const command = readableCommandOf(body);
          return command ? factFaults(tools, { ref: params('towing_reference_id'), command, actor }) : [];
        },
      },
    );
  }

  const requestOf = ({ actor, params }: PathCall, command: ReportCommand) => {
    return { ref: params('towing_reference_id'), reportId: params('report_id'), command, actor };
  };
  const decision = (call: PathCall, command: ReportCommand): Change => {
    const request = requestOf(call, command);
    return { effect: (idempotency) => decideReport(tools, { ...request, idempotency }) };
  };
  server.change(ROUTES.retryReport, (call) => decision(call, { action: 'retry' }));
  server.change(ROUTES.correctReport, (call) => decision(call, { action: 'correct', fields: call.body }), {
    alsoFails: async (call) => {
      const fields = readableCorrectionOf(call.body);
      return fields ? decisionFaults(tools, requestOf(call, { action: 'correct', fields })) : [];
    },
  });
  server.change(ROUTES.waiveReport, (call) => decision(call, { action: 'waive', reason: call.body.reason }));
  server.change(ROUTES.acceptReport, (call) => decision(call, { action: 'accept', reason: call.body.reason }));
}
