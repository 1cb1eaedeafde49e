import type { Role } from '../domain/vocabulary';
import type { Messages } from './messages';

/**
 * Every page of the console. The server, the header, the ops tabs, the list of shortcuts, the screenshots and the test of
 * every page read this table. docs/contributing/how-to-add.md describes how to add a page.
 */
interface PageEntry {
  /** The route, as Express takes it. */
  readonly path: string;
  /** The role that may see the page; null for pages that need no session. */
  readonly role: Role | null;
  /** The message that names the page in the header. */
  readonly header?: HeaderLabel;
  /** The keys that open the page. */
  readonly shortcut?: string;
  /** The message that names the page in the ops tabs. */
  readonly tab?: keyof Messages['ops']['tab'];
}

type HeaderLabel = 'board' | 'tasks' | 'violations' | 'lookups' | 'ops';

export const PAGES = {
  board: { path: '/board', role: 'viewer', header: 'board', shortcut: 'g b' },
  tow: { path: '/tows/:ref', role: 'viewer' },
  tasks: { path: '/tasks', role: 'viewer', header: 'tasks', shortcut: 'g t' },
  runs: { path: '/runs', role: 'viewer' },
  violations: { path: '/violations', role: 'viewer', header: 'violations', shortcut: 'g v' },
  reportViolation: { path: '/violations/new', role: 'dispatcher' },
  violation: { path: '/violations/:id', role: 'viewer' },
  lookups: { path: '/lookups', role: 'viewer', header: 'lookups', shortcut: 'g l' },
  ops: { path: '/ops', role: 'viewer', header: 'ops', shortcut: 'g o', tab: 'overview' },
  deliveries: { path: '/ops/deliveries', role: 'viewer', tab: 'deliveries' },
  delivery: { path: '/ops/deliveries/:id', role: 'viewer' },
  service: { path: '/ops/service', role: 'viewer', tab: 'service' },
  difference: { path: '/ops/service/:id', role: 'viewer' },
  notifications: { path: '/ops/notifications', role: 'ops', tab: 'notifications' },
  subscriptions: { path: '/ops/subscriptions', role: 'ops', tab: 'subscriptions' },
  keys: { path: '/ops/keys', role: 'ops', tab: 'keys' },
  /** Without a label: the banner of every page leads there while it matters. */
  withheld: { path: '/ops/shadow', role: 'viewer' },
  audit: { path: '/ops/audit', role: 'ops', tab: 'audit' },
  preferences: { path: '/shortcuts', role: null },
  signIn: { path: '/sign-in', role: null },
} as const satisfies Readonly<Record<string, PageEntry>>;

export type PageName = keyof typeof PAGES;

/** All entries, for readers that do not know the names. */
export const PAGE_ENTRIES: readonly PageEntry[] = Object.values(PAGES);

/** The page of a tow. */
export function towPath(ref: string): string {
  return `/tows/${encodeURIComponent(ref)}`;
}

/** The page of a violation, by any of its names. */
export function violationPath(id: string): string {
  return `/violations/${encodeURIComponent(id)}`;
}

/** The page of a delivery. */
export function deliveryPath(id: string): string {
  return `/ops/deliveries/${encodeURIComponent(id)}`;
}

/** The page of a run. */
export function runPath(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

/** The page of a kind of difference. */
export function differencePath(id: string): string {
  return `/ops/service/${encodeURIComponent(id)}`;
}
