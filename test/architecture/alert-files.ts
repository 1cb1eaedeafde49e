import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { PROJECT } from '../support/project';

/** The alerts and the dashboard below `deploy`. */

const textOf = (path: string) => readFileSync(join(PROJECT, 'deploy', path), 'utf8');

const rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});
const ruleFile = z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(rule) })) });

/** The rules of all groups. */
export const ALERTS = ruleFile.parse(parse(textOf('prometheus/alerts.yml'))).groups.flatMap(({ rules }) => rules);

const panel = z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) });
const dashboard = z.object({ panels: z.array(panel) });

/** The expressions of all panels. */
export const DASHBOARD_EXPRESSIONS: readonly string[] = dashboard
  .parse(JSON.parse(textOf('grafana/dashboard.json')))
  .panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
