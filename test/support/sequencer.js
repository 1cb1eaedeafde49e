const { default: Sequencer } = require('@jest/test-sequencer');

/** Files that mostly wait, for processes and for leases. The size of such a file tells nothing about its time. */
const WAITING = /\.slow\.test\.tsx?$/;

/**
 * The order in which jest starts the test files. Without times of an earlier run, as in a fresh clone, jest starts the
 * largest files first. Files that mostly wait are small and would be left for the end, all at once, with idle
 * processors. They are spread over the first half instead, and the others use the time that they wait.
 */
module.exports = class WaitingFilesSpread extends Sequencer {
  /**
   * @param {import('@jest/test-result').Test[]} tests
   * @returns {import('@jest/test-result').Test[]}
   */
  sort(tests) {
    /** @type {import('@jest/test-result').Test[]} */
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of jest's sequencer
    const sorted = super.sort(tests);
    const waiting = sorted.filter(({ path }) => WAITING.test(path));
    const others = sorted.filter(({ path }) => !WAITING.test(path));
    // The last waiting file begins when half of the others have begun.
    const perWaiting = Math.floor(others.length / (2 * waiting.length));
    return waiting
      .flatMap((test, place) => [test, ...others.slice(place * perWaiting, (place + 1) * perWaiting)])
      .concat(others.slice(waiting.length * perWaiting));
  }
};
