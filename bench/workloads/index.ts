import { accept } from './accept';
import { backlog } from './backlog';
import { board } from './board';
import { counts } from './counts';
import { facts } from './facts';
import { footprint } from './footprint';
import { history } from './history';
import { latency } from './latency';
import { lifecycle } from './lifecycle';
import { scale } from './scale';
import { strangers } from './strangers';
import { upload } from './upload';
import type { Workload } from './workload';

/** All workloads, in the order they run. */
export const WORKLOADS: readonly Workload[] = [
  accept,
  lifecycle,
  latency,
  facts,
  counts,
  footprint,
  scale,
  backlog,
  board,
  upload,
  history,
  strangers,
];
