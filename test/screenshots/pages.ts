import type { Scene } from './scene';

/** A page to take a picture of. */
export interface Picture {
  readonly name: string;
  /** What it shows, for the gallery. */
  readonly about: string;
  readonly path: string;
  readonly viewport: 'desk' | 'phone';
  /** The whole page, and not only what fits the window. */
  readonly extent?: 'window' | 'whole';
  /** There once the page is complete. */
  readonly until?: string;
}

/** Every page of the console as the scene left it; the one that ends the session comes last. */
export function pagesOf(scene: Scene): Picture[] {
  const tow = (ref: string) => `/tows/${encodeURIComponent(ref)}`;
  return [
    { name: 'board', about: 'The board', path: '/board', viewport: 'desk' },
    { name: 'board-phone', about: 'The board on a phone', path: '/board', viewport: 'phone' },
    { name: 'tow', about: 'A tow in the yard', path: tow(scene.detained), viewport: 'desk', extent: 'whole' },
    { name: 'tow-phone', about: 'A tow on a phone', path: tow(scene.requested), viewport: 'phone' },
    {
      name: 'tow-refused',
      about: 'A tow whose report was refused',
      path: tow(scene.refused),
      viewport: 'desk',
      extent: 'whole',
    },
    { name: 'tasks', about: 'Tasks', path: '/tasks', viewport: 'desk' },
    { name: 'violations', about: 'Violations', path: '/violations', viewport: 'desk' },
    {
      name: 'violation',
      about: 'A violation',
      path: `/violations/${encodeURIComponent(scene.violation)}`,
      viewport: 'desk',
    },
    {
      name: 'violation-new',
      about: 'Reporting a violation',
      path: '/violations/new',
      viewport: 'desk',
      extent: 'whole',
    },
    {
      name: 'violation-new-phone',
      about: 'Reporting a violation on a phone',
      path: '/violations/new',
      viewport: 'phone',
    },
    { name: 'lookups', about: 'Asking the service', path: '/lookups', viewport: 'desk' },
    { name: 'ops', about: 'Ops', path: '/ops?hours=6', viewport: 'desk', extent: 'whole' },
    { name: 'deliveries', about: 'Webhook deliveries', path: '/ops/deliveries', viewport: 'desk' },
    {
      name: 'delivery',
      about: 'A delivery',
      path: `/ops/deliveries/${encodeURIComponent(scene.delivery)}`,
      viewport: 'desk',
    },
    { name: 'keys', about: 'API keys', path: '/ops/keys', viewport: 'desk' },
    { name: 'audit', about: 'Who did what', path: '/ops/audit', viewport: 'desk' },
    { name: 'shortcuts', about: 'Keyboard shortcuts', path: '/shortcuts', viewport: 'desk' },
    { name: 'sign-in', about: 'Signing in', path: '/sign-in', viewport: 'desk' },
  ];
}
