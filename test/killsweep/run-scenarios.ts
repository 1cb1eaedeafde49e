import { runsOf } from '../workflow/run-world';
import { BOOTSTRAP } from '../../src/operator';
import { START } from '../support/stores';
import { known, workOff, type Scenario, type Stage } from './scenario';

const TOWS = 3;
const actor = { id: BOOTSTRAP, name: 'tester', role: 'ops' } as const;

/** Lets the service refuse the reports of some tows, and starts a run of decisions on their tasks. */
function decided(action: 'waive' | 'retry'): Scenario['prepare'] {
  return async (stage) => {
    const { testBed } = stage;
    await testBed.service.setFaults([{ operation: 'started', fault: '400' }]);
    const others: Pick<Stage, 'ref' | 'violation'>[] = [];
    for (let made = 1; made < TOWS; made += 1) others.push(await testBed.service.orderTow(false));
    for (const tow of [stage, ...others]) await known({ ...stage, ...tow }, START);
    await workOff(stage);
    await testBed.service.setFaults([]);
    const runs = runsOf(testBed.foundation);
    const reason = action === 'retry' ? {} : { reason: 'a test' };
    const preview = await runs.preview({ action, type: 'report_refused', ...reason }, actor);
    if (preview.kind !== 'done' || preview.value.total !== TOWS) throw new Error('the run could not be previewed');
    const started = await runs.start(preview.value.id, actor);
    if (started.kind !== 'done') throw new Error(`the start was ${started.kind}`);
  };
}

const times = (text: string) => Array.from({ length: TOWS }, () => text);
const REQUESTED = times('tow_request processed created');

/** Scenarios in which a worker carries out decisions on many tasks. */
export const RUN_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a run of waivers',
    end: [...times('started waived'), ...REQUESTED, 'run done: done, done, done'],
    repeats: 0,
    prepare: decided('waive'),
  },
  {
    name: 'a run of retries',
    end: [...times('started accepted'), ...REQUESTED, 'run done: done, done, done'],
    repeats: 1,
    prepare: decided('retry'),
  },
];
