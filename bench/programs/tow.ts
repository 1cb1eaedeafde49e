/** The tows that all contenders play: references, webhook bodies and the five facts. */

export interface TowNames {
  readonly towingReferenceId: string;
  readonly violationReferenceId: string;
  readonly metadataId: string;
}

/** Names of tow `number`. Runs against the same Redis use different prefixes. */
export function towNames(prefix: string, number: number): TowNames {
  const suffix = `${prefix}${String(number).padStart(7, '0')}`;
  return {
    towingReferenceId: `TW-20261120-${suffix}`,
    violationReferenceId: `V-20261120-${suffix}`,
    metadataId: `bench-${suffix}`,
  };
}

/** The body of a tow request webhook (docs/service-api.md#tow-request-webhook). */
export function towRequest({ towingReferenceId, violationReferenceId, metadataId }: TowNames): string {
  return JSON.stringify({
    violation_reference_id: violationReferenceId,
    towing_reference_id: towingReferenceId,
    metadata: { id: metadataId },
  });
}

/** What happens to every tow, in this order, and the body of each fact for the operator API. */
export const FACTS = [
  ['started', '{"plate_number":"BNC 1234","towed_location":"Olaya Street","latitude":24.7136,"longitude":46.6753}'],
  ['detained', '{}'],
  ['invoice', '{"vehicle_type":"HEAVY"}'],
  ['payment', '{}'],
  ['released', '{}'],
] as const;
export type FactKind = (typeof FACTS)[number][0];

/** The calls of one tow to the service, in order, as the contenders beside towhook send them. */
export const CALLS: readonly BenchCall[] = [
  {
    method: 'PATCH',
    path: '/v1/tow/public/towing-status/started',
    body: (tow) => ({
      ...references(tow),
      plate_number: 'BNC 1234',
      towed_location: 'Olaya Street',
      latitude: 24.7136,
      longitude: 46.6753,
      status_update_time: '2026-11-20T08:00:00.000Z',
    }),
  },
  { method: 'PATCH', path: '/v1/tow/public/towing-status/detained', body: references },
  {
    method: 'POST',
    path: '/v1/tow/public/invoice',
    body: (tow) => ({ towing_reference_id: tow.towingReferenceId, vehicle_type: 'HEAVY', delay_in_days: 0 }),
  },
  {
    method: 'PATCH',
    path: '/v1/tow/public/invoice/payment-status',
    body: (tow) => ({ towing_reference_id: tow.towingReferenceId, payment_status: 'PAID' }),
  },
  { method: 'PATCH', path: '/v1/tow/public/towing-status/released', body: references },
];

export interface BenchCall {
  readonly method: 'PATCH' | 'POST';
  readonly path: string;
  readonly body: (tow: TowNames) => object;
}

function references(tow: TowNames): object {
  return { violation_reference_id: tow.violationReferenceId, towing_reference_id: tow.towingReferenceId };
}
