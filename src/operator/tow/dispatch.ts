import { readableAssignmentOf, readableStepOf } from '../../contracts/tow/dispatch';
import { ROUTES } from '../../contracts/operator-routes';
import type { DispatchCommand } from '../../domain/tow/dispatch-rules';
import { addPhotos } from '../../workflow/tow/add-photos';
import { dispatchFaults, updateDispatch } from '../../workflow/tow/update-dispatch';
import type { ApiServer, ChangeOptions } from '../api-server';
import type { OperatorTools } from '../tools';
import type { PathCall } from '../check-call';
import type { Change } from '../idempotency';

/** The operator's own records of a tow, which are never sent to the service: crew, steps, yard, holds, notes. */
export function serveDispatch(server: ApiServer, tools: OperatorTools): void {
  const requestOf = ({ actor, params }: PathCall, command: DispatchCommand) => {
    return { ref: params('towing_reference_id'), command, actor };
  };
  const change = (call: PathCall, command: DispatchCommand): Change => {
    const request = requestOf(call, command);
    return { effect: (idempotency) => updateDispatch(tools, { ...request, idempotency }) };
  };
  const faultsBy = (readable: (body: unknown) => DispatchCommand | null): ChangeOptions => ({
    alsoFails: async (call) => {
      const command = readable(call.body);
      return command ? dispatchFaults(tools, requestOf(call, command)) : [];
    },
  });
  server.change(
    ROUTES.assignTow,
    (call) => change(call, { kind: 'assign', ...call.body }),
    faultsBy(readableAssignmentOf),
  );
  server.change(
    ROUTES.recordStep,
    (call) => change(call, { kind: 'step', step: call.body.step, occurredAt: call.body.occurred_at }),
    faultsBy(readableStepOf),
  );
  server.change(ROUTES.setYard, (call) => change(call, { kind: 'yard', ...call.body }));
  server.change(ROUTES.placeHold, (call) =>
    change(call, { kind: 'hold', holdId: tools.clock.id(), reason: call.body.reason }),
  );
  server.change(ROUTES.liftHold, (call) =>
    change(call, { kind: 'lift', holdId: call.params('hold_id'), reason: call.body.reason }),
  );
  server.change(ROUTES.addNote, (call) => change(call, { kind: 'note', text: call.body.text }));
  servePhotos(server, tools);
}

/** Photos of a tow. They stay in towhook and are never sent to the service. */
function servePhotos(server: ApiServer, tools: OperatorTools): void {
  const { tows, spool } = tools;
  server.form(ROUTES.addPhotos, ({ params, actor }, { images, upload }) => {
    const ref = params('towing_reference_id');
    return { effect: (idempotency) => addPhotos(tools, { ref, images, upload, actor, idempotency }) };
  });
  server.image(ROUTES.readPhoto, async ({ params }) => {
    const towingReference = params('towing_reference_id');
    const record = await tows.read(towingReference);
    const photo = record?.tow.dispatch.photos.find(({ id }) => id === params('photo_id'));
    if (!photo) return null;
    const source = await spool.sourceOf({ kind: 'photos', towingReference }, photo);
    return source === null ? null : { ...photo, source };
  });
}
