import type { BulkAction } from '../../src/contracts/bulk';
import { openBulk } from '../../src/main/bulk';
import { BOOTSTRAP } from '../../src/operator';
import { START } from '../support/stores';
import { known, workOff, type Scenario, type Stage } from './scenario';

const TOWS = 3;
const actor = { id: BOOTSTRAP, name: 'tester', role: 'ops' } as const;

/** Lets the service refuse the reports of some tows, and starts a run of decisions on their tasks. */
function decided(action: BulkAction): Scenario['prepare'] {
  return async (stage) => {
    const { testBed } = stage;
    await testBed.service.setFaults([{ operation: 'started', fault: '400' }]);
    const others: Pick<Stage, 'ref' | 'violation'>[] = [];
    for (let made = 1; made < TOWS; made += 1) others.push(await testBed.service.orderTow(false));
    for (const tow of [stage, ...others]) await known({ ...stage, ...tow }, START);
    await workOff(stage);
    await testBed.service.setFaults([]);
    const bulk = openBulk(testBed.foundation);
    const reason = action === 'retry' ? {} : { reason: 'a test' };
    const preview = await bulk.preview({ action, filter: { type: 'report_refused' }, ...reason }, actor);
    if (!preview.ok || preview.run.items.length !== TOWS) throw new Error('the run could not be previewed');
    const started = await bulk.start(preview.run.id, actor);
    if (!started.ok) throw new Error(started.refusal.message);
  };
}

const times = (text: string) => Array.from({ length: TOWS }, () => text);
const REQUESTED = times('tow_request processed created');

/** Scenarios in which a worker carries out decisions on many tasks. */
export const BULK_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a bulk run of waivers',
    end: [...times('started waived'), ...REQUESTED, 'bulk done: done, done, done'],
    repeats: 0,
    prepare: decided('waive'),
  },
  {
    name: 'a bulk run of retries',
    end: [...times('started accepted'), ...REQUESTED, 'bulk done: done, done, done'],
    repeats: 1,
    prepare: decided('retry'),
  },
];
