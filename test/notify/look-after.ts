import { openNotifications } from '../../src/main/notifications';
import { silentLog } from '../../src/platform/log/log';
import { runWatch } from '../../src/workflow/ops/watch-alarms';
import type { App } from '../support/app';
import { agedBy } from '../support/notifications';

/** Looks at the alarms, lets this time pass and looks again. */
export async function lookAfter({ foundation }: Pick<App, 'foundation'>, ms: number): Promise<void> {
  const { clock, metrics } = foundation;
  const tools = openNotifications(foundation);
  await runWatch({ ...tools, clock, metrics, log: silentLog });
  await tools.store.advance((state) => agedBy(state, ms));
  await runWatch({ ...tools, clock, metrics, log: silentLog });
}
