import { atLeastTimes, atMostTimes, type MeasurementRow } from '../../bench/measure/figures';
import { median, quantile } from '../../bench/measure/statistics';
import { markdownOf } from '../../bench/measure/table';

const machine = {
  processor: 'Some Processor',
  cores: 2,
  memoryGib: 8,
  nodeVersion: 'v20.0.0',
  redisVersion: '7.0.0',
  loadBefore: 0.25,
};
const about = { machine, commit: 'abc1234', date: '2026-11-20', command: 'npm run bench', rounds: 3, sections: [] };

function row(target: MeasurementRow['figure']['target'], values: MeasurementRow['values']): MeasurementRow {
  const figure = { label: 'one worker', unit: 'tows/s', digits: 0, ...(target ? { target } : {}) };
  return { workload: 'lifecycle', figure, values };
}

const lineOf = (one: MeasurementRow) =>
  markdownOf({ ...about, rows: [one] })
    .split('\n')
    .find((line) => line.startsWith('| lifecycle'));

describe('the report of the bench', () => {
  test('shows the median of the rounds, the range and the ratio to contender (a)', () => {
    const values = { towhook: [1300, 1000, 1200], express: [300, 500, 400], loop: [5000] };
    expect(lineOf(row(undefined, values))).toBe(
      '| lifecycle | one worker, tows/s | 1,200 | 1,000–1,300 | 400 | 3.00 | – | 5,000 |  |',
    );
  });

  test('says of a target whether it holds', () => {
    const values = { towhook: [300], express: [100] };
    expect(lineOf(row(atLeastTimes(3), values))).toContain('≥ 3 × (a): holds');
    expect(lineOf(row(atLeastTimes(3.1), values))).toContain('≥ 3.1 × (a): **missed**');
    expect(lineOf(row(atMostTimes(1), values))).toContain('≤ (a): **missed**');
  });

  test('counts a target as missed when towhook has no value', () => {
    expect(lineOf(row(atLeastTimes(1), { express: [100] }))).toContain('**missed**');
  });

  test('names the machine, the date, the commit and the command', () => {
    const text = markdownOf({ ...about, rows: [] });
    for (const part of ['Some Processor, 2 cores, 8 GiB', '2026-11-20', 'abc1234', '`npm run bench`']) {
      expect(text).toContain(part);
    }
  });
});

describe('the statistics of the bench', () => {
  test('the median of an even number of values is the mean of the two middle ones', () => {
    expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([])]).toEqual([2, 2.5, Number.NaN]);
  });

  test('a quantile is the smallest value that covers its share', () => {
    const values = Array.from({ length: 100 }, (_, index) => index + 1);
    expect([quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1), quantile([], 0.5)]).toEqual([
      50,
      99,
      100,
      Number.NaN,
    ]);
  });
});
