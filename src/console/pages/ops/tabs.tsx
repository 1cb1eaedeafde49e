import type { Viewer } from '../../viewer';

/** The pages below ops that somebody may see. */
export function Tabs({ viewer, here }: { viewer: Viewer; here: string }) {
  const { tab, tabs } = viewer.words.ops;
  const entries = [
    ['/ops', tab.overview],
    ['/ops/deliveries', tab.deliveries],
    ...(viewer.may('ops')
      ? ([
          ['/ops/keys', tab.keys],
          ['/ops/audit', tab.audit],
          ['/queues', tab.jobs],
        ] as const)
      : []),
  ] as const;
  return (
    <nav class="ops-tabs" aria-label={tabs}>
      <ul>
        {entries.map(([address, label]) => (
          <li>
            <a href={address} aria-current={address === here ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
