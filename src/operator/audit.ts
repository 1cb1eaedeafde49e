import { ROUTES } from '../contracts/operator-routes';
import type { AuditStore } from '../workflow/ports';
import type { Server } from './serve';

/** The record of what people did. Nothing here writes to it: each act does, together with its effect. */
export function serveAudit(server: Server, audit: AuditStore): void {
  server.read(ROUTES.listAudit, async ({ query }) => {
    const page = await audit.list({
      cursor: query.cursor ?? null,
      limit: query.limit,
      towingReferenceId: query.towing_reference_id ?? null,
    });
    return { items: page.items, next_cursor: page.nextCursor };
  });
}
