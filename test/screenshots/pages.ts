import { PAGES, towPath, violationPath, type PageName } from '../../src/console/page-table';
import type { Scene } from './scene';

/** A page to take a picture of. */
export interface Picture {
  /** The page of the table; one page may have several pictures. */
  readonly page: PageName;
  readonly name: string;
  /** What it shows, for the gallery. */
  readonly about: string;
  readonly path: string;
  readonly viewport: 'desk' | 'phone';
  /** The whole page, and not only what fits the window. */
  readonly extent?: 'window' | 'whole';
  /** A selector that matches once the page is complete. */
  readonly until?: string;
}

/** Every page of the console as the scene left it; the one that ends the session comes last. */
export function pagesOf(scene: Scene): readonly Picture[] {
  const pictures: readonly Picture[] = [
    { page: 'board', name: 'board', about: 'The board', path: '/board', viewport: 'desk' },
    { page: 'board', name: 'board-phone', about: 'The board on a phone', path: '/board', viewport: 'phone' },
    {
      page: 'tow',
      name: 'tow',
      about: 'A tow in the yard',
      path: towPath(scene.detained),
      viewport: 'desk',
      extent: 'whole',
    },
    { page: 'tow', name: 'tow-phone', about: 'A tow on a phone', path: towPath(scene.requested), viewport: 'phone' },
    {
      page: 'tow',
      name: 'tow-refused',
      about: 'A tow whose report was refused',
      path: towPath(scene.refused),
      viewport: 'desk',
      extent: 'whole',
    },
    { page: 'tasks', name: 'tasks', about: 'Tasks', path: '/tasks', viewport: 'desk' },
    { page: 'violations', name: 'violations', about: 'Violations', path: '/violations', viewport: 'desk' },
    {
      page: 'violation',
      name: 'violation',
      about: 'A violation',
      path: violationPath(scene.violation),
      viewport: 'desk',
    },
    {
      page: 'reportViolation',
      name: 'violation-new',
      about: 'Reporting a violation',
      path: '/violations/new',
      viewport: 'desk',
      extent: 'whole',
    },
    {
      page: 'reportViolation',
      name: 'violation-new-phone',
      about: 'Reporting a violation on a phone',
      path: '/violations/new',
      viewport: 'phone',
    },
    { page: 'lookups', name: 'lookups', about: 'Asking the service', path: '/lookups', viewport: 'desk' },
    { page: 'ops', name: 'ops', about: 'Ops', path: '/ops?hours=6', viewport: 'desk', extent: 'whole' },
    { page: 'deliveries', name: 'deliveries', about: 'Webhook deliveries', path: '/ops/deliveries', viewport: 'desk' },
    {
      page: 'delivery',
      name: 'delivery',
      about: 'A delivery',
      path: `/ops/deliveries/${encodeURIComponent(scene.delivery)}`,
      viewport: 'desk',
    },
    { page: 'service', name: 'service', about: 'The service and its document', path: '/ops/service', viewport: 'desk' },
    {
      page: 'notifications',
      name: 'notifications',
      about: 'Notifications',
      path: '/ops/notifications',
      viewport: 'desk',
      extent: 'whole',
    },
    { page: 'keys', name: 'keys', about: 'API keys', path: '/ops/keys', viewport: 'desk' },
    { page: 'audit', name: 'audit', about: 'Who did what', path: '/ops/audit', viewport: 'desk' },
    { page: 'withheld', name: 'shadow', about: 'Shadow mode', path: '/ops/shadow', viewport: 'desk' },
    { page: 'preferences', name: 'shortcuts', about: 'Keyboard shortcuts', path: '/shortcuts', viewport: 'desk' },
    { page: 'signIn', name: 'sign-in', about: 'Signing in', path: '/sign-in', viewport: 'desk' },
  ];
  const without = Object.keys(PAGES).filter(
    (name) => !WITHOUT_PICTURE.includes(name) && !pictures.some(({ page }) => page === name),
  );
  if (without.length > 0) throw new Error(`no picture of ${without.join(', ')}`);
  return pictures;
}

/** Pages that look like another one, and one that a day without odd messages does not have. */
const WITHOUT_PICTURE: readonly string[] = ['runs', 'subscriptions', 'difference'];
