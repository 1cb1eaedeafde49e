import { ARCHIVED_MARKER_KEPT_MS, checkDelivery } from '../../src/domain/ops/conservation';

/** A tow request that made a tow, which is neither stored nor marked as archived. */
function stateAfter(processedBeforeMs: number) {
  const nowMs = Date.parse('2026-11-26T12:00:00Z');
  const created = {
    state: 'processed',
    verdict: 'created',
    processedAtMs: nowMs - processedBeforeMs,
  } as const;
  return checkDelivery('dlv_1', created, {
    nowMs,
    scheduledAtMs: null,
    isTaskListed: () => false,
    towingReferenceId: 'TW-1',
    isTowThere: false,
    isTowArchived: false,
    isParkedAtTow: false,
    isDifferenceListed: false,
  }).state;
}

it('a tow request whose tow is gone is lost while the marker of an archived tow would still exist', () => {
  expect(stateAfter(ARCHIVED_MARKER_KEPT_MS - 1)).toBe('lost');
});

it('a tow request whose tow is gone is finished once the marker of an archived tow has expired', () => {
  expect(stateAfter(ARCHIVED_MARKER_KEPT_MS)).toBe('finished');
});
